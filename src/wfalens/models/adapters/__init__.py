"""Models of other libraries behind the one contract."""
