"""Keras files: plain recurrent networks are read with h5py and stepped, others run by Keras."""
