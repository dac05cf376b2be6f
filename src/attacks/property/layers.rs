//! The weights of a network as one vector, and which of them belong to which unit.

use crate::error::{Error, Result};
use std::ops::Range;

/// The weights of one layer within the vector of a network: a kernel \[place, input, output\], outputs running fastest,
/// and behind it `vectors` vectors \[output\].
///
/// A dense layer has one place; a convolution has the places of its kernel, row by row; a dense layer behind a
/// convolution has the places of the image that it sees. Inputs and outputs are units or filters. The vectors are the
/// bias, and scale and shift of a batch normalization, as far as the layer has them. This is the order of `get_weights`
/// of Keras, layer by layer, without the statistics of batch normalization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerWeights {
    /// Places that an output sees together.
    pub places: usize,
    /// Units or filters below.
    pub inputs: usize,
    /// Units or filters.
    pub outputs: usize,
    /// Numbers that each output has besides its kernel.
    pub vectors: usize,
}

impl LayerWeights {
    /// Numbers of the kernel: places · inputs · outputs.
    #[must_use]
    pub const fn kernel(self) -> usize {
        self.places * self.inputs * self.outputs
    }

    /// Numbers of the layer: those of the kernel and vectors · outputs.
    #[must_use]
    pub const fn parameters(self) -> usize {
        self.kernel() + self.vectors * self.outputs
    }

    /// The places of kernel and vectors, in order, in the vector of a network in which the layer starts at `start`.
    pub fn parts(self, start: usize) -> impl Iterator<Item = Range<usize>> {
        let behind = start + self.kernel();
        let vector = move |index: usize| behind + index * self.outputs..behind + (index + 1) * self.outputs;
        std::iter::once(start..behind).chain((0..self.vectors).map(vector))
    }

    /// Rejects layers that do not follow one another: each layer sees the outputs of the one before.
    ///
    /// # Errors
    /// [`Error::Length`] without layers and if inputs are not the outputs before, [`Error::Domain`] for an empty layer.
    ///
    /// # Example
    /// ```
    /// # use leakbound::property::LayerWeights;
    /// let dense = |inputs, outputs| LayerWeights { places: 1, inputs, outputs, vectors: 1 };
    /// let layers = [dense(784, 16), dense(16, 10)];
    /// LayerWeights::check(&layers)?;
    /// assert_eq!(layers.map(LayerWeights::parameters), [784 * 16 + 16, 170]);
    /// assert!(LayerWeights::check(&[dense(784, 16), dense(17, 10)]).is_err());
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    pub fn check(layers: &[Self]) -> Result<()> {
        Error::check_length(!layers.is_empty(), "layers of a network", 0, "at least 1")?;
        for (quantity, count) in layers.iter().flat_map(|layer| {
            [
                ("places of a kernel", layer.places),
                ("inputs of a layer", layer.inputs),
                ("outputs of a layer", layer.outputs),
            ]
        }) {
            Error::check_domain(count > 0, quantity, 0.0, "[1, inf)")?;
        }
        match layers.windows(2).find(|pair| pair[1].inputs != pair[0].outputs) {
            Some(pair) => Err(Error::length(
                "inputs of a layer",
                pair[1].inputs,
                format_args!("{}, the outputs of the layer before", pair[0].outputs),
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_one_behind_the_other() {
        let layer = LayerWeights { places: 4, inputs: 3, outputs: 2, vectors: 3 };
        let parts: Vec<_> = layer.parts(10).collect();
        assert_eq!(parts, [10..34, 34..36, 36..38, 38..40]);
        assert_eq!(layer.parameters(), 30);
        let nothing = LayerWeights { outputs: 0, ..layer };
        assert_eq!(
            LayerWeights::check(&[nothing]).unwrap_err().to_string(),
            "outputs of a layer = 0 is not in [1, inf)"
        );
        assert!(LayerWeights::check(&[]).is_err());
    }
}
