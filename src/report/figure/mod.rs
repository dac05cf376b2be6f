//! Figures as SVG: curves against an order or a number of samples, one row per query or method, two histograms,
//! and sheets of images.
//!
//! A figure is data; [`Curves::draw`], [`Rows::draw`], [`Histograms::draw`] and [`Pictures::draw`] make a [`Drawing`]
//! of it, which stands alone as a file ([`Drawing::svg`]: white background, no style sheet) or inside a page, whose
//! style sheet may darken it.

mod axis;
mod curves;
mod drawing;
mod histograms;
mod ink;
mod pictures;
mod rows;
mod text;
mod words;

pub use axis::{Axis, Scale};
pub use curves::{Curves, Series};
pub use drawing::Drawing;
pub use histograms::{Column, Histograms};
pub use ink::SeriesKind;
pub use pictures::{PictureRow, Pictures};
pub use rows::{Row, RowSeries, Rows};
pub(super) use text::{shortened, visible};
