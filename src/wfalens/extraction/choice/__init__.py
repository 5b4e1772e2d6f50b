"""Settings that are chosen on held-out texts."""
