"""Parts of the scan benchmark."""
