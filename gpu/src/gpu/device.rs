use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::adapter::{self, Adapter, Choice};
use crate::{Error, Result, Width};

/// An open device, its queue, its shaders, and the error that it has had.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) adapter: Adapter,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) limits: wgpu::Limits,
    wrong: Arc<Mutex<Option<Error>>>,
    search: [OnceLock<wgpu::ComputePipeline>; 8],
    mask: [OnceLock<wgpu::ComputePipeline>; 8],
}

/// The purpose of a shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shader {
    Search,
    Mask,
}

impl Device {
    pub(crate) fn open(choice: Choice, name: Option<&str>) -> Result<Self> {
        let adapter = adapter::choose(choice, name)?;
        let limits = adapter.limits();
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("ibid"),
            required_limits: limits.clone(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        };
        let opened = pollster::block_on(adapter.request_device(&descriptor));
        let (device, queue) =
            opened.map_err(|error| Error::NoAdapter(format!("{}: {error}", adapter.get_info().name)))?;
        let wrong = Arc::new(Mutex::new(None));
        let (of_errors, of_loss) = (Arc::clone(&wrong), Arc::clone(&wrong));
        device.on_uncaptured_error(Arc::new(move |error| note(&of_errors, error_of(&error))));
        device.set_device_lost_callback(move |reason, message| {
            // The loss replaces any other error: later failures are caused by it.
            let lost = Error::DeviceLost(format!("{reason:?}: {message}"));
            *of_loss.lock().unwrap_or_else(PoisonError::into_inner) = Some(lost);
        });
        let adapter = Adapter::new(&adapter);
        Ok(Self { adapter, device, queue, limits, wrong, search: Default::default(), mask: Default::default() })
    }

    /// Returns an error if anything has gone wrong so far.
    pub(crate) fn check(&self) -> Result<()> {
        let wrong = || self.wrong.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if matches!(wrong(), Some(Error::Device(_))) {
            // An operation on a lost device fails before the device reports the loss; polling makes it report.
            let _ = self.poll(wgpu::PollType::Poll);
        }
        wrong().map_or(Ok(()), Err)
    }

    /// Lets the device report finished work. wgpu panics where the driver fails.
    fn poll(&self, how: wgpu::PollType) -> Result<()> {
        match catch_unwind(AssertUnwindSafe(|| self.device.poll(how))) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(Error::Device(error.to_string())),
            Err(_) => Err(Error::DeviceLost("while it was waited for".to_owned())),
        }
    }

    /// Returns the shader for codes of a width, with bounds by sizes or with one bound.
    pub(crate) fn pipeline(&self, shader: Shader, width: Width, sized: bool) -> Result<&wgpu::ComputePipeline> {
        let number = width as usize * 2 + usize::from(sized);
        let (pipelines, source, entry_point) = match shader {
            Shader::Search => (&self.search, include_str!("search.wgsl"), "search"),
            Shader::Mask => (&self.mask, include_str!("mask.wgsl"), "mask_pairs"),
        };
        let pipeline = pipelines[number].get_or_init(|| {
            let code = match width {
                Width::W32 => include_str!("code_32.wgsl"),
                Width::W64 => include_str!("code_64.wgsl"),
                Width::W128 => include_str!("code_128.wgsl"),
                Width::W256 => include_str!("code_256.wgsl"),
            };
            let queries = super::QUERIES_PER_WORKGROUP;
            let constants = format!("const SIZED = {sized};\nconst QUERIES_PER_WORKGROUP = {queries}u;\n");
            self.compile(&[code, &constants, source].concat(), entry_point, &self.layout(shader))
        });
        self.check().map(|()| pipeline)
    }

    fn compile(&self, source: &str, entry_point: &str, layout: &wgpu::BindGroupLayout) -> wgpu::ComputePipeline {
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(entry_point),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(entry_point),
            bind_group_layouts: &[Some(layout)],
            ..Default::default()
        });
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry_point),
            layout: Some(&layout),
            module: &module,
            entry_point: Some(entry_point),
            compilation_options: Default::default(),
            cache: None,
        })
    }

    /// Returns the layout of the bindings: parameters, then buffers that are read, and last one that is written.
    fn layout(&self, shader: Shader) -> wgpu::BindGroupLayout {
        let written = match shader {
            Shader::Search => 6,
            Shader::Mask => 7,
        };
        let entry = |binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: match binding {
                    0 => wgpu::BufferBindingType::Uniform,
                    _ => wgpu::BufferBindingType::Storage { read_only: binding < written },
                },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let entries: Vec<_> = (0..=written).map(entry).collect();
        self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries })
    }

    pub(crate) fn bind(&self, pipeline: &wgpu::ComputePipeline, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let entries = buffers
            .iter()
            .zip(0..)
            .map(|(buffer, binding)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() });
        let entries: Vec<_> = entries.collect();
        let layout = pipeline.get_bind_group_layout(0);
        self.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries })
    }

    /// Returns a buffer of that many bytes, or an error where there is no memory for it.
    pub(crate) fn buffer(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        let most = match usage.contains(wgpu::BufferUsages::STORAGE) {
            true => self.limits.max_buffer_size.min(self.limits.max_storage_buffer_binding_size),
            false => self.limits.max_buffer_size,
        };
        if bytes > most {
            return Err(Error::OutOfMemory(format!("{bytes} bytes of {label} are more than the {most} of a buffer")));
        }
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let size = bytes.next_multiple_of(4).max(32);
        let descriptor = wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false };
        let buffer = self.device.create_buffer(&descriptor);
        match pollster::block_on(scope.pop()) {
            Some(error) => Err(Error::OutOfMemory(format!("no room for {bytes} bytes of {label}: {}", reason(&error)))),
            None => self.check().map(|()| buffer),
        }
    }

    /// Returns a buffer that shaders read, and that can be written to.
    pub(crate) fn input(&self, label: &str, bytes: u64) -> Result<wgpu::Buffer> {
        self.buffer(label, bytes, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST)
    }

    /// Writes to the beginning of a buffer, after all work that was submitted before.
    pub(crate) fn write<T: bytemuck::NoUninit>(&self, buffer: &wgpu::Buffer, values: &[T]) {
        if !values.is_empty() {
            self.queue.write_buffer(buffer, 0, bytemuck::cast_slice(values));
        }
    }

    /// Submits the recorded commands, and begins to map a buffer, so that it can be read when they are done.
    pub(crate) fn submit(
        &self,
        encoder: wgpu::CommandEncoder,
        read: &wgpu::Buffer,
        bytes: u64,
    ) -> Result<wgpu::SubmissionIndex> {
        let submission = self.queue.submit([encoder.finish()]);
        // The result of mapping is checked when the submission is done.
        read.slice(..bytes).map_async(wgpu::MapMode::Read, |_| {});
        self.check().map(|()| submission)
    }

    /// Waits for a submission, reads the beginning of the buffer that was mapped with it, and unmaps the buffer.
    pub(crate) fn read<T>(
        &self,
        submission: wgpu::SubmissionIndex,
        read: &wgpu::Buffer,
        bytes: u64,
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        let wait = wgpu::PollType::Wait { submission_index: Some(submission), timeout: None };
        let polled = self.poll(wait);
        self.check()?;
        polled.map_err(|error| self.fail(error))?;
        let mapped = read.slice(..bytes).get_mapped_range();
        let value = mapped.map(|bytes| with(&bytes)).map_err(|error| self.fail(Error::Device(error.to_string())))?;
        read.unmap();
        Ok(value)
    }

    /// Waits until all submitted work is done.
    pub(crate) fn finish(&self) -> Result<()> {
        let (sender, receiver) = channel();
        self.queue.on_submitted_work_done(move || {
            let _ = sender.send(());
        });
        let polled = self.poll(wgpu::PollType::wait_indefinitely());
        self.check()?;
        polled.map_err(|error| self.fail(error))?;
        receiver.try_recv().map_err(|_| self.fail(Error::Device("it does not finish its work".to_owned())))
    }

    /// Stores an error, so that every later search fails too.
    fn fail(&self, error: Error) -> Error {
        note(&self.wrong, error.clone());
        error
    }
}

/// Stores an error if there is none yet; the first error and the loss of the device stay.
fn note(wrong: &Mutex<Option<Error>>, error: Error) {
    wrong.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
}

fn error_of(error: &wgpu::Error) -> Error {
    match error {
        wgpu::Error::OutOfMemory { .. } => Error::OutOfMemory(reason(error)),
        wgpu::Error::Validation { .. } | wgpu::Error::Internal { .. } => Error::Device(reason(error)),
    }
}

/// Returns the message of an error on one line.
fn reason(error: &impl Display) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}
