"""How prefixes become states."""
