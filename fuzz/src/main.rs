//! libFuzzer on the target that LEAKBOUND_FUZZ names; without its instrumentation, the target on the files named.
#![cfg_attr(fuzzing, no_main)]

fn chosen() -> fn(&[u8]) {
    let name = std::env::var("LEAKBOUND_FUZZ").unwrap_or_default();
    leakbound_fuzz::target(&name).unwrap_or_else(|| panic!("unknown fuzz target `{name}` in LEAKBOUND_FUZZ"))
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    static CHOSEN: std::sync::OnceLock<fn(&[u8])> = std::sync::OnceLock::new();
    CHOSEN.get_or_init(chosen)(bytes);
});

#[cfg(not(fuzzing))]
fn main() -> std::io::Result<()> {
    std::env::args_os().skip(1).try_for_each(|path| std::fs::read(path).map(|bytes| chosen()(&bytes)))
}
