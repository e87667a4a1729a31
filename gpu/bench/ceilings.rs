use std::fmt;
use std::num::NonZero;
use std::time::Instant;

use ibid_gpu::{Error, Gpu, Width};
use multiversion::multiversion;

/// The upper limits of the machine.
pub(crate) struct Ceilings {
    threads: usize,
    /// The bytes per second that all threads combine by xor and whose bits they count and add up, in first-level
    /// caches.
    cpu_bytes: f64,
    gpu: Option<OfGpu>,
}

struct OfGpu {
    /// The words of 32 bits per second that are combined by xor and whose bits are counted and added up, in registers.
    words: f64,
    /// The bytes per second that are read from the device's memory.
    bytes: f64,
}

impl Ceilings {
    pub(crate) fn measure(threads: NonZero<usize>, gpu: Option<&Gpu>) -> Result<Self, Error> {
        let gpu = gpu.map(OfGpu::measure).transpose()?;
        Ok(Self { threads: threads.get(), cpu_bytes: cpu_bytes(threads.get()), gpu })
    }

    /// Measures the processor again, and keeps the higher value: other programs take a share of it now and then.
    pub(crate) fn measure_again(&mut self) {
        self.cpu_bytes = self.cpu_bytes.max(cpu_bytes(self.threads));
    }

    /// Returns the most pairs per second that the processor can compare.
    pub(crate) fn of_cpu(&self, width: Width) -> f64 {
        self.cpu_bytes / width.bytes() as f64
    }

    /// Returns the most pairs per second that the GPU can compare, by its arithmetic or by its memory, which holds each
    /// row once.
    pub(crate) fn of_gpu(&self, width: Width, rows: usize) -> f64 {
        let Some(gpu) = &self.gpu else { return f64::NAN };
        // The rows are read once for each 1024 queries.
        let reads = 2.0;
        let pairs = rows as f64 * 2000.0;
        let by_memory = pairs / (reads * rows as f64 * width.bytes() as f64 / gpu.bytes);
        (gpu.words / width.words() as f64).min(by_memory)
    }
}

impl fmt::Display for Ceilings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.cpu_bytes / 1e9;
        write!(f, "ceiling of the processor: {bytes:.1} GB/s of xor and popcount on {} threads", self.threads)?;
        if let Some(gpu) = &self.gpu {
            let (words, bytes) = (gpu.words * 4.0 / 1e9, gpu.bytes / 1e9);
            write!(f, "\nceilings of the GPU: {words:.1} GB/s of xor and popcount, {bytes:.1} GB/s of memory")?;
        }
        Ok(())
    }
}

/// The bytes of data that stay in the first-level cache.
const DATA: usize = 16 << 10;

/// Returns the rate of the better of two ways to count: in lanes of bytes, and in lanes of 64 bits.
fn cpu_bytes(threads: usize) -> f64 {
    let bytes = vec![[0x5a_u8; 512]; DATA / 512];
    let words = vec![[0x5a5a_u64; 64]; DATA / 512];
    let rate = |work: &(dyn Fn(u64) -> u64 + Sync)| {
        // About as long as a search takes, so that other programs disturb both alike.
        let rounds = 500_000_u64;
        let begin = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| std::hint::black_box((0..rounds).fold(0_u64, |sum, round| sum ^ work(round))));
            }
        });
        threads as f64 * rounds as f64 * DATA as f64 / begin.elapsed().as_secs_f64()
    };
    rate(&|round| count_bytes(std::hint::black_box(&bytes), round.to_le_bytes()[0]))
        .max(rate(&|round| count_words(std::hint::black_box(&words), round)))
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512bitalg+avx512vpopcntdq", "x86_64+avx2"))]
#[expect(clippy::cast_possible_truncation, reason = "a byte has at most eight bits")]
fn count_bytes(data: &[[u8; 512]], other: u8) -> u64 {
    let mut sums = [0_u8; 512];
    for data in data {
        for (sum, byte) in sums.iter_mut().zip(data) {
            *sum = sum.wrapping_add((byte ^ other).count_ones() as u8);
        }
    }
    sums.iter().map(|sum| u64::from(*sum)).sum()
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512bitalg+avx512vpopcntdq", "x86_64+avx2"))]
fn count_words(data: &[[u64; 64]], other: u64) -> u64 {
    let mut sums = [0_u64; 64];
    for data in data {
        for (sum, word) in sums.iter_mut().zip(data) {
            *sum += u64::from((word ^ other).count_ones());
        }
    }
    sums.iter().sum()
}

impl OfGpu {
    fn measure(gpu: &Gpu) -> Result<Self, Error> {
        let software = gpu.adapter().is_software;
        // Each thread counts 8 words in each of 256 rounds, and reads 1 KiB.
        let limit = gpu.adapter().max_storage_buffer_binding_size;
        let memory = if software { 64_u32 << 20 } else { 1 << 30 };
        let memory = u64::from(memory).min(limit) / (1 << 18) * (1 << 18);
        let groups = u32::try_from(memory >> 18).unwrap_or(1);
        let counting = if software { 64 } else { 1 << 14 };
        let words = run(gpu, "count_bits", 1 << 18, counting)?;
        let bytes = run(gpu, "read_memory", memory, groups)?;
        let threads = f64::from(counting) * 256.0;
        Ok(Self { words: threads * 8.0 * 256.0 / words, bytes: memory as f64 / bytes })
    }
}

/// Returns the seconds that a shader takes: the best of five averages over ten runs.
fn run(gpu: &Gpu, entry_point: &str, bytes: u64, groups: u32) -> Result<f64, Error> {
    let device = gpu.device();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(entry_point),
        source: wgpu::ShaderSource::Wgsl(include_str!("ceiling.wgsl").into()),
    });
    let entry = |binding| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: binding == 0 },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let entries = [entry(0), entry(1)];
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&layout)],
        ..Default::default()
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(entry_point),
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some(entry_point),
        compilation_options: Default::default(),
        cache: None,
    });
    let buffer = |size| {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let (words, sums) = (buffer(bytes), buffer(64));
    let entries = [&words, &sums]
        .into_iter()
        .zip(0..)
        .map(|(buffer, binding)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() });
    let entries: Vec<_> = entries.collect();
    let bindings =
        device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
    // Memory that was never written may not be backed by real memory.
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.clear_buffer(&words, 0, None);
    gpu.queue().submit([encoder.finish()]);
    let repeats = 10_u32;
    let mut best = f64::MAX;
    for _ in 0..5 {
        gpu.finish()?;
        let begin = Instant::now();
        let mut encoder = device.create_command_encoder(&Default::default());
        for _ in 0..repeats {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &bindings, &[]);
            pass.dispatch_workgroups(groups, 1, 1);
        }
        gpu.queue().submit([encoder.finish()]);
        gpu.finish()?;
        best = best.min(begin.elapsed().as_secs_f64() / f64::from(repeats));
    }
    Ok(best)
}
