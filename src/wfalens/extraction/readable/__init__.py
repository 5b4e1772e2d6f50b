"""Automata that a person can read: few states, few classes of words, fitted together to what the model says."""
