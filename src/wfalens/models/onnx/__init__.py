"""ONNX graphs: read as models, and written from networks."""
