"""The paper's propositions put to the test."""
