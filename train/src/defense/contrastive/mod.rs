//! Encoders that learn without labels from views of their images, with a linear classifier on them.

mod keys;
mod loss;
