//! The device on which tensors are stored and computed.

use crate::error::{DeepError, Result};
pub use burn::tensor::Device;
use std::str::FromStr;

/// The processor by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Processor {
    /// All cores of the machine.
    #[default]
    Cpu,
    /// A graphics processor through Vulkan, Metal or DirectX.
    Wgpu,
    /// An NVIDIA graphics processor.
    Cuda,
}

impl FromStr for Processor {
    type Err = DeepError;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "cpu" => Ok(Self::Cpu),
            "wgpu" => Ok(Self::Wgpu),
            "cuda" => Ok(Self::Cuda),
            _ => Err(DeepError::Device(format!("there is no processor `{text}`; choose cpu, wgpu or cuda"))),
        }
    }
}

impl Processor {
    /// The device, or what is missing from this build.
    pub fn device(self) -> Result<Device> {
        match self {
            Self::Cpu => Ok(Device::flex()),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => Ok(Device::wgpu(Default::default())),
            #[cfg(feature = "cuda")]
            Self::Cuda => Ok(Device::cuda(0)),
            #[allow(unreachable_patterns)] // With all features, every processor has its arm above.
            other => {
                let name = if other == Self::Wgpu { "wgpu" } else { "cuda" };
                Err(DeepError::Device(format!(
                    "this program was built without {name}; build it with `--features {name}`, or use --device cpu"
                )))
            }
        }
    }
}

/// The device for tests that must pass on any device: `PARTITA_DEVICE=wgpu cargo test -p partita-deep --features wgpu`.
#[cfg(test)]
pub(crate) fn tested() -> Device {
    let name = std::env::var("PARTITA_DEVICE").unwrap_or_else(|_| "cpu".into());
    name.parse().and_then(Processor::device).unwrap_or_else(|problem| panic!("{problem}"))
}
