"""Keras files: plain recurrent networks are stepped without Keras, usual tables read without it, others run by it."""
