//! Our rate of exact leakage of recorded next tokens.

use super::Result;
use super::privacy_losses::once_per_second;
use half::f16;
use leakbound::quantity::{Delta, FailureProbability, Order};
use leakbound::record::{MemoryBudget, read_tokens};
use leakbound::study::{Claims, Contexts, Study, TokensStudy, unwatched};
use leakbound::token::{Decoding, TokenNeighbors, parse_mechanism};

/// The recording of `next_tokens.py`: positions, members, tokens.
const SIZE: [usize; 3] = [128, 8, 50_000];

/// The file of an array of half precision.
fn recording() -> Vec<u8> {
    let [positions, members, tokens] = SIZE;
    let header = format!("{{'descr': '<f2', 'fortran_order': False, 'shape': ({positions}, {members}, {tokens}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:<117}\n").as_bytes());
    for (position, member) in (0..positions).flat_map(|position| (0..members).map(move |member| (position, member))) {
        for token in 0..tokens {
            let rank = (token * 7_919 + 31 * position) % tokens + 1;
            let change = (1.7 * token as f64 + 2.3 * (member * member) as f64 + 0.1 * position as f64).sin();
            bytes.extend(f16::from_f64(change - 1.2 * (rank as f64).ln()).to_le_bytes());
        }
    }
    bytes
}

/// Positions per second of `audit tokens` for clipped logits in half precision, from a file: D at orders 2 and 8 in both
/// directions without each of eight members.
pub fn rate(_: &str, seconds: f64) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("logits.npy");
    std::fs::write(&path, recording())?;
    let orders = vec![Order::new(2.0)?, Order::new(8.0)?];
    once_per_second(seconds, SIZE[0] as f64, || {
        let study = TokensStudy {
            recording: read_tokens(&path, MemoryBudget::default())?,
            decoding: Decoding::PLAIN,
            mechanism: parse_mechanism("clipped-logits:clip=5,batch=8")?,
            neighbors: TokenNeighbors::Removed,
            contexts: Contexts::Answered,
            orders: orders.clone(),
            delta: Delta::new(1e-5)?,
            failure_probability: FailureProbability::new(0.05)?,
            claims: Claims::default(),
            answer_claims: Vec::new(),
            transcripts: None,
            seed: 0,
            top: 10,
        };
        study.run(&unwatched).map(drop).map_err(Into::into)
    })
}
