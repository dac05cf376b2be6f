//! Logits that are gathered.

use super::model::TOKENS;
use ndarray::{Array1, Array2, Array3, Axis};

/// Rows of logits that are gathered.
pub(super) struct Rows {
    pub logits: Array3<f32>,
    pub public: Array2<f32>,
    pub tokens: Array1<i64>,
}

impl Rows {
    /// Puts what the models said behind some contexts in so many rows.
    pub fn put(&mut self, rows: &[usize], said: &[Vec<f32>]) {
        for (place, &row) in rows.iter().enumerate() {
            let part = |logits: &[f32]| Array1::from(logits[place * TOKENS..(place + 1) * TOKENS].to_vec());
            if let Some((public, members)) = said.split_first() {
                self.public.row_mut(row).assign(&part(public));
                for (member, logits) in members.iter().enumerate() {
                    self.logits.index_axis_mut(Axis(0), row).row_mut(member).assign(&part(logits));
                }
            }
        }
    }
}
