//! The benches of the library in one program: `cargo bench --bench library -- NAME` runs those whose name contains NAME.

mod audit;
mod bootstrap;
mod distribution;
mod divergence;
mod e_process;
mod interval;
mod k_cut;
mod membership;
mod methods;
mod privacy_loss;
mod roc;
mod simulate;
mod token;
mod worst_case;

criterion::criterion_main!(
    audit::benches,
    bootstrap::benches,
    distribution::benches,
    divergence::all,
    e_process::benches,
    interval::benches,
    k_cut::benches,
    membership::benches,
    methods::benches,
    privacy_loss::all,
    roc::benches,
    simulate::benches,
    token::benches,
    worst_case::all,
);
