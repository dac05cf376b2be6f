//! Where networks are trained.

use leakbound::error::{Error, Result};
use leakbound::named::named;
use rayon::prelude::*;
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use tch::Device;

/// The file that makes libtorch of a GPU out of libtorch of the processor, once it is loaded.
const CUDA_LIBRARY: &str = "libtorch_cuda.so";

/// The requested device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceChoice {
    /// The processor.
    Cpu,
    /// The first CUDA GPU, or an error.
    Cuda,
    /// A GPU if there is one that can be used, otherwise the processor.
    Auto,
}

named!(DeviceChoice, "device", [Cpu "cpu", Cuda "cuda", Auto "auto"]);

/// A device that is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainingDevice(Device);

impl TrainingDevice {
    /// Opens the device, after the library that [`cuda_library`] names was loaded.
    ///
    /// libtorch gets one thread for each thread of this crate: groups of networks share the processor, not the loops
    /// inside one.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if CUDA was requested and cannot be used.
    pub fn open(choice: DeviceChoice) -> Result<Self> {
        tch::set_num_threads(1);
        match choice {
            DeviceChoice::Cpu => Ok(Self(Device::Cpu)),
            _ if tch::Cuda::is_available() => Ok(Self(Device::Cuda(0))),
            DeviceChoice::Auto => Ok(Self(Device::Cpu)),
            DeviceChoice::Cuda => {
                cuda_library(choice)?;
                Err(absent("libtorch finds no CUDA GPU that it can use; is the driver new enough for CUDA 13?"))
            }
        }
    }

    /// Whether it is a GPU, on which all networks are trained together.
    #[must_use]
    pub fn is_cuda(self) -> bool {
        self.0.is_cuda()
    }

    /// Work on each of these, whose results come in order: side by side on a processor, one after the other on a GPU.
    ///
    /// Each has its own tensors, which may go to another thread but not be seen by two.
    pub(super) fn each<W: Send, T: Send>(
        self,
        all: Vec<W>,
        work: impl Fn(W) -> Result<T> + Send + Sync,
    ) -> Result<Vec<T>> {
        if self.is_cuda() { all.into_iter().map(work).collect() } else { all.into_par_iter().map(work).collect() }
    }

    /// The device in libtorch's words.
    pub(super) fn tensors(self) -> Device {
        self.0
    }
}

impl fmt::Display for TrainingDevice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Device::Cuda(number) => write!(formatter, "CUDA GPU {number}"),
            _ => match rayon::current_num_threads() {
                1 => formatter.write_str("CPU, one thread"),
                threads => write!(formatter, "CPU, {threads} threads"),
            },
        }
    }
}

/// The library that must be loaded before this process can use the GPU that was requested; nothing if none is needed.
///
/// One binary serves both: libtorch looks for its CUDA half among the libraries of the process. It is found next to the
/// libtorch in use, or in the folder `lib` of the `LIBTORCH` set when the program is started. The command loads it by
/// starting itself again with `LD_PRELOAD`.
///
/// # Errors
/// [`Error::Unavailable`] if CUDA was requested and there is no GPU or no such library.
pub fn cuda_library(choice: DeviceChoice) -> Result<Option<PathBuf>> {
    if choice == DeviceChoice::Cpu || tch::Cuda::is_available() {
        return Ok(None);
    }
    let library = std::env::var_os("LIBTORCH")
        .map(|folder| PathBuf::from(folder).join("lib"))
        .into_iter()
        .chain(folder_of_libtorch())
        .map(|folder| folder.join(CUDA_LIBRARY))
        .find(|library| library.exists());
    match (Path::new("/dev/nvidia0").exists(), library) {
        (true, Some(library)) => Ok(Some(library)),
        _ if choice == DeviceChoice::Auto => Ok(None),
        (false, _) => Err(absent("this machine shows no CUDA GPU (no /dev/nvidia0); use --device cpu")),
        (true, None) => Err(absent(
            "there is no libtorch_cuda.so next to libtorch; set LIBTORCH to a libtorch 2.11 that was built with CUDA",
        )),
    }
}

fn absent(reason: &str) -> Error {
    Error::Unavailable { operation: "device cuda", reason: reason.into() }
}

/// Where the libtorch of this process was loaded from.
fn folder_of_libtorch() -> Option<PathBuf> {
    folder_in_maps(&std::fs::read_to_string("/proc/self/maps").ok()?)
}

/// The folder of libtorch_cpu.so in a list of mapped files.
fn folder_in_maps(maps: &str) -> Option<PathBuf> {
    let paths = maps.lines().filter_map(|line| line.find('/').map(|start| Path::new(&line[start..])));
    let mut libraries = paths.filter(|path| path.file_name().is_some_and(|name| name == "libtorch_cpu.so"));
    Some(libraries.next()?.parent()?.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_read_by_its_name() {
        for choice in [DeviceChoice::Cpu, DeviceChoice::Cuda, DeviceChoice::Auto] {
            assert_eq!(choice.to_string().parse::<DeviceChoice>().unwrap(), choice);
        }
        let error = "tpu".parse::<DeviceChoice>().unwrap_err();
        assert_eq!(error.to_string(), "device `tpu` cannot be read; expected cpu, cuda or auto");
    }

    #[test]
    fn the_folder_of_a_mapped_library_is_found() {
        let maps = "7f00-7f01 r-xp 00000000 fe:00 12   /usr/lib/libc.so.6\n7f02-7f03 r--p 0 fe:00 13   /opt/with \
                    space/lib/libtorch_cpu.so\n";
        assert_eq!(folder_in_maps(maps), Some("/opt/with space/lib".into()));
        assert_eq!(folder_in_maps("7f00-7f01 r-xp 0 00:00 0 [heap]\n"), None);
    }

    #[test]
    fn the_processor_is_always_there_and_needs_no_library() {
        assert_eq!(cuda_library(DeviceChoice::Cpu).unwrap(), None);
        assert!(!TrainingDevice::open(DeviceChoice::Cpu).unwrap().is_cuda());
    }

    #[test]
    fn cuda_is_used_or_rejected_in_one_line() {
        match TrainingDevice::open(DeviceChoice::Cuda) {
            Ok(device) => assert!(device.is_cuda()),
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with("device cuda: ") && !text.contains('\n'), "{text}");
            }
        }
    }
}
