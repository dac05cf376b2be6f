//! Orders that are likely to expose faults.

use crate::mechanism::draw::{between, pick};
use crate::quantity::Order;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(super) fn order(stream: &mut ChaCha8Rng) -> Option<Order> {
    let value = match stream.random_range(0..10u32) {
        0..3 => *pick(stream, &[2.0, 3.0, 4.0, 8.0, 16.0, 32.0, 64.0]),
        3 => 1.0 + between(stream, 1e-4, 1e-2),
        4 => stream.random_range(490.0..510.0),
        _ => 1.0 + between(stream, 0.01, 500.0),
    };
    Order::new(value).ok()
}
