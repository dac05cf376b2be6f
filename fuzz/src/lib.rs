//! Fuzz targets: functions of any bytes that assert properties of the library, not only the absence of panics.
//!
//! Tests run each on its seeds and on random changes of them. `cargo xtask fuzz` runs libFuzzer on one, which looks for
//! inputs that reach new code.

mod input;
#[cfg(test)]
mod smoke;

/// Declares the modules of the targets, each with its `run`, and lists them.
macro_rules! targets {
    ($($name:ident),+ $(,)?) => {
        mod targets {
            $(pub mod $name;)+
        }

        /// Names and functions of all targets.
        pub const TARGETS: &[(&str, fn(&[u8]))] = &[$((stringify!($name), targets::$name::run)),+];

        #[cfg(test)]
        mod tests {
            $(
                #[test]
                fn $name() {
                    crate::smoke::run(stringify!($name), crate::targets::$name::run);
                }
            )+
        }
    };
}

targets! {
    accountants,
    bounds,
    distributions,
    histograms,
    quantities,
    read_answer,
    read_counts,
    read_distribution,
    read_labels,
    read_parquet,
    read_property,
    read_scenario,
    read_scores,
    read_shadow,
    read_shadow_files,
    read_simulation,
    read_stream,
    read_vote_files,
    read_votes,
}

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<fn(&[u8])> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, run)| *run)
}

#[cfg(test)]
mod registry {
    use super::{TARGETS, target};
    use std::path::Path;

    #[test]
    fn every_file_is_a_target_and_every_folder_of_seeds_has_one() {
        let names = |folder: &str| -> Vec<String> {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
            let entries = std::fs::read_dir(folder).expect("a folder can be read").flatten();
            let mut names: Vec<_> =
                entries.map(|entry| entry.path().file_stem().unwrap().to_string_lossy().into_owned()).collect();
            names.sort_unstable();
            names
        };
        let targets: Vec<_> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(names("src/targets"), targets);
        for folder in names("seeds") {
            assert!(target(&folder).is_some(), "{folder}");
        }
    }
}
