//! Search on a GPU.

mod adapter;
mod chunks;
mod device;
mod mask;
mod tiles;

use std::sync::Arc;

pub use self::adapter::{Adapter, Choice, adapters};
use self::device::Device;
use self::tiles::GpuTiles;
use crate::search::{Backend, Tiles};
use crate::{Result, Task};

/// The number of queries with which a workgroup compares its rows.
const QUERIES_PER_WORKGROUP: u32 = 1024;

/// The most queries of a tile.
const QUERIES_PER_TILE: u32 = 1 << 12;

/// The memory of the device that is used. The answers do not depend on it.
#[derive(Debug, Clone, Copy)]
struct Tuning {
    hits_per_tile: u32,
    chunk_bytes: u64,
    resident_bytes: u64,
}

/// A back end that searches on a GPU, by Vulkan, Metal or Direct3D 12.
///
/// After an error of the device, all searches on it fail with that error.
#[derive(Debug, Clone)]
pub struct Gpu {
    device: Arc<Device>,
    tuning: Tuning,
}

impl Gpu {
    /// Opens an adapter: the one whose name contains `name`, in any case; or else the one that the environment variable
    /// `IBID_GPU_ADAPTER` names in the same manner; or else the first of [`adapters`] that the choice allows. Returns
    /// `None` where the choice is [`Choice::Off`], or [`Choice::Auto`] and there is no adapter.
    pub fn open(choice: Choice, name: Option<&str>) -> Result<Option<Self>> {
        let variable = std::env::var(adapter::VARIABLE).ok().filter(|name| !name.is_empty());
        let opened = match choice {
            Choice::Off => return Ok(None),
            Choice::Auto | Choice::On => Device::open(choice, name.or(variable.as_deref())),
        };
        let tuning = Tuning { hits_per_tile: 1 << 20, chunk_bytes: 32 << 20, resident_bytes: 2 << 30 };
        match opened {
            Ok(device) => Ok(Some(Self { device: Arc::new(device), tuning })),
            Err(_) if choice == Choice::Auto => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sets the most hits that a tile may have; by default 2²⁰, 8 MiB. Tiles with more are done in smaller parts.
    #[must_use]
    pub fn with_hits_per_tile(self, hits: u32) -> Self {
        let most = (self.device.limits.max_storage_buffer_binding_size / 8).saturating_sub(1);
        let hits_per_tile = hits.clamp(1, u32::try_from(most).unwrap_or(u32::MAX >> 4));
        Self { tuning: Tuning { hits_per_tile, ..self.tuning }, ..self }
    }

    /// Sets the bytes of codes, and the bytes of their sizes, that are put into a buffer; by default 32 MiB, or the
    /// limit of the device.
    #[must_use]
    pub fn with_chunk_bytes(self, chunk_bytes: u64) -> Self {
        Self { tuning: Tuning { chunk_bytes, ..self.tuning }, ..self }
    }

    /// Sets the bytes of codes and sizes that stay on the device, at least two buffers; by default 2 GiB, or as much as
    /// it has room for. Codes that do not stay are sent again for each tile of 4096 queries.
    #[must_use]
    pub fn with_resident_bytes(self, resident_bytes: u64) -> Self {
        Self { tuning: Tuning { resident_bytes, ..self.tuning }, ..self }
    }

    /// Returns the adapter that was opened.
    pub fn adapter(&self) -> &Adapter {
        &self.device.adapter
    }

    /// Returns the device, for callers that measure it.
    pub fn device(&self) -> &wgpu::Device {
        &self.device.device
    }

    /// Returns the queue of the device, for callers that measure it.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.device.queue
    }

    /// Waits until the device is idle.
    pub fn finish(&self) -> Result<()> {
        self.device.finish()
    }
}

impl Backend for Gpu {
    fn name(&self) -> &str {
        &self.device.adapter.name
    }

    fn open<'a>(&'a self, task: &'a Task<'a>) -> Result<Box<dyn Tiles + 'a>> {
        Ok(Box::new(GpuTiles::new(&self.device, self.tuning, task)?))
    }

    fn mask(&self, task: &Task<'_>, queries: &[u32], rows: &[u32]) -> Result<Vec<u64>> {
        mask::mask(&self.device, self.tuning, task, queries, rows)
    }
}
