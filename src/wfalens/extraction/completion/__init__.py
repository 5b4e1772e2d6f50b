"""Rows that were never observed: rules, questions to the model, fitting."""
