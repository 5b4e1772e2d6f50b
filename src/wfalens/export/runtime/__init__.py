"""The automaton as one JavaScript module or one C99 file: tables of integers, and the code that reads them."""
