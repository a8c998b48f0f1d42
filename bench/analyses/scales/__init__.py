"""What each time scale of a trained MedMamba sees, and what it is worth."""
