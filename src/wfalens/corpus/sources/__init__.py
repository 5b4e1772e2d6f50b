"""Texts from files and from memory, as blocks."""
