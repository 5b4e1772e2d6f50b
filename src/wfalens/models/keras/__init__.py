"""Keras files: plain recurrent networks are stepped without Keras, others run by it."""
