//! Cameras, files, encoders, decoders and quality metrics.
