//! The engine that compares bit codes: on a GPU if there is one and `ibid.gpu` allows it, else on the cores of the
//! machine.

use std::num::NonZero;
use std::sync::Arc;

use datafusion::common::{Result, exec_datafusion_err};
use ibid_gpu::{Backend, Cpu, Engine};

use crate::config::Gpu;

/// Returns the engine for a search on so many threads.
pub(crate) fn engine(choice: Gpu, threads: usize) -> Result<Engine> {
    let threads = NonZero::new(threads).unwrap_or(NonZero::<usize>::MIN);
    let cpu: Arc<dyn Backend> = Arc::new(Cpu::default().with_threads(threads));
    let backends = open(choice)?.into_iter().chain([cpu]).collect();
    Ok(Engine::new(backends).with_held_hits(HELD_HITS).on_fall_back(|backend, error| {
        log::warn!("{backend} failed, so the processor is used instead: {error}");
    }))
}

/// The number of hits that an engine holds; it may hold about twice as many.
const HELD_HITS: usize = 1 << 19;

/// The number of bytes that an engine takes beyond the codes.
pub(crate) const ENGINE_BYTES: usize = 2 * HELD_HITS * size_of::<ibid_gpu::Hit>();

#[cfg(feature = "gpu")]
fn open(choice: Gpu) -> Result<Option<Arc<dyn Backend>>> {
    use std::sync::OnceLock;

    use ibid_gpu::Choice;

    type Opened = std::result::Result<Option<Arc<dyn Backend>>, String>;
    // Opening takes a moment: once for each choice.
    static AUTO: OnceLock<Opened> = OnceLock::new();
    static ON: OnceLock<Opened> = OnceLock::new();
    let (opened, choice) = match choice {
        Gpu::Off => return Ok(None),
        Gpu::Auto => (&AUTO, Choice::Auto),
        Gpu::On => (&ON, Choice::On),
    };
    let open = || match ibid_gpu::Gpu::open(choice, None) {
        Ok(gpu) => Ok(gpu.map(|gpu| Arc::new(gpu) as Arc<dyn Backend>)),
        Err(error) => Err(error.to_string()),
    };
    opened
        .get_or_init(open)
        .clone()
        .map_err(|error| exec_datafusion_err!("ibid.gpu is on, and {error}; set it to auto or off"))
}

#[cfg(not(feature = "gpu"))]
fn open(choice: Gpu) -> Result<Option<Arc<dyn Backend>>> {
    match choice {
        Gpu::On => Err(exec_datafusion_err!(
            "ibid.gpu is on, but ibid was built without its feature gpu; set it to auto or off"
        )),
        Gpu::Auto | Gpu::Off => Ok(None),
    }
}
