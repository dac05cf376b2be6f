//! `leakbound torch` in both builds.

use assert_cmd::Command;

/// Exit status, stdout and stderr.
fn leakbound(arguments: &str) -> (i32, String, String) {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("leakbound"));
    let output = command.args(arguments.split_whitespace()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[cfg(not(feature = "torch"))]
#[test]
fn a_build_without_libtorch_says_how_to_make_one_with_it() {
    for arguments in ["torch", "torch teachers --epochs 3", "torch device"] {
        let (status, stdout, stderr) = leakbound(arguments);
        assert_eq!((status, stdout.as_str()), (1, ""), "{stderr}");
        assert!(stderr.starts_with("error: torch: this program was built without the feature `torch`; "), "{stderr}");
        assert!(stderr.contains("cargo build --release --features torch") && stderr.lines().count() == 1, "{stderr}");
    }
}

#[cfg(feature = "torch")]
mod with_libtorch {
    use super::leakbound;

    #[test]
    fn the_device_is_named_or_refused_in_one_line() {
        let (status, stdout, _) = leakbound("torch device --device cpu --threads 2");
        assert_eq!((status, stdout.as_str()), (0, "CPU, 2 threads\n"));
        let (status, stdout, stderr) = leakbound("torch device --device cuda");
        match status {
            0 => assert!(stdout.starts_with("CUDA GPU"), "{stdout}"),
            _ => {
                assert_eq!(status, 1);
                assert!(stderr.starts_with("error: device cuda: ") && stderr.lines().count() == 1, "{stderr}");
            }
        }
        assert_eq!(leakbound("torch device --device tpu").0, 2);
    }
}
