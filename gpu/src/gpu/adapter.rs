use std::fmt;

use crate::{Error, Result};

/// The environment variable that names the adapter to take, a software adapter too: part of its name, in any case.
pub(crate) const VARIABLE: &str = "IBID_GPU_ADAPTER";

/// The choice of searching on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// A GPU, if there is one. A software adapter is taken only if it is named.
    #[default]
    Auto,
    /// A GPU, or a software adapter where there is no other; an error where there is none.
    On,
    /// No GPU.
    Off,
}

/// A GPU of this machine, or software that acts as one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Adapter {
    /// The name of the device.
    pub name: String,
    /// The interface by which it is used: Vulkan, Metal or Dx12.
    pub backend: String,
    /// The driver and its version.
    pub driver: String,
    /// The kind of device: DiscreteGpu, IntegratedGpu, VirtualGpu, Cpu or Other.
    pub kind: String,
    /// True if it is software on the processor, such as Mesa's lavapipe.
    pub is_software: bool,
    /// The largest buffer, in bytes.
    pub max_buffer_size: u64,
    /// The largest part of a buffer that a shader sees, in bytes.
    pub max_storage_buffer_binding_size: u64,
    /// The most workgroups in a direction.
    pub max_compute_workgroups_per_dimension: u32,
    /// The most memory that a workgroup shares, in bytes.
    pub max_compute_workgroup_storage_size: u32,
}

impl Adapter {
    pub(crate) fn new(adapter: &wgpu::Adapter) -> Self {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        Self {
            name: info.name,
            backend: format!("{:?}", info.backend),
            driver: [info.driver, info.driver_info].join(" ").trim().to_owned(),
            kind: format!("{:?}", info.device_type),
            is_software: info.device_type == wgpu::DeviceType::Cpu,
            max_buffer_size: limits.max_buffer_size,
            max_storage_buffer_binding_size: limits.max_storage_buffer_binding_size,
            max_compute_workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
            max_compute_workgroup_storage_size: limits.max_compute_workgroup_storage_size,
        }
    }
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {}, {})", self.name, self.kind, self.backend, self.driver)
    }
}

/// Returns all adapters of this machine, in the order in which they would be taken.
pub fn adapters() -> Vec<Adapter> {
    enumerate().iter().map(Adapter::new).collect()
}

fn enumerate() -> Vec<wgpu::Adapter> {
    let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    // A buffer that would fill the memory is refused, which is an error that a search survives.
    descriptor.memory_budget_thresholds.for_resource_creation = Some(90);
    let instance = wgpu::Instance::new(descriptor);
    let mut adapters = pollster::block_on(instance.enumerate_adapters(backends));
    adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    adapters
}

/// Returns the adapter to take.
pub(crate) fn choose(choice: Choice, name: Option<&str>) -> Result<wgpu::Adapter> {
    let adapters = enumerate();
    let names = || {
        let names: Vec<String> = adapters.iter().map(|adapter| Adapter::new(adapter).to_string()).collect();
        names.join("; ")
    };
    let chosen = match name {
        Some(name) => {
            let name = name.to_lowercase();
            adapters.iter().find(|adapter| adapter.get_info().name.to_lowercase().contains(&name))
        }
        None => adapters.iter().find(|adapter| choice == Choice::On || !Adapter::new(adapter).is_software),
    };
    let reason = || match (adapters.is_empty(), name) {
        (true, _) => "there is no adapter for Vulkan, Metal or Direct3D 12 here, or no driver for it".to_owned(),
        (false, Some(name)) => format!("no adapter is called {name}; there are: {}", names()),
        (false, None) => format!("only software adapters are here, which must be named in {VARIABLE}: {}", names()),
    };
    chosen.cloned().ok_or_else(|| Error::NoAdapter(reason()))
}
