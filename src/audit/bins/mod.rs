//! Real-valued outputs, and the bins in which they are counted.

mod output_bins;
mod quantiles;
mod real_outputs;
mod rule;
mod stream;

pub use output_bins::OutputBins;
pub use real_outputs::RealOutputs;
pub use rule::BinRule;
pub use stream::StreamBins;
