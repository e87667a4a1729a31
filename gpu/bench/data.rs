use ibid_codes::split_mix;
use ibid_gpu::Width;

/// Numbers that look random.
struct SplitMix64 {
    seed: u64,
    given: u64,
}

impl SplitMix64 {
    fn new(seed: u64) -> Self {
        Self { seed, given: 0 }
    }

    fn next(&mut self) -> u64 {
        let number = split_mix(self.seed, self.given);
        self.given += 1;
        number
    }

    fn word(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    #[expect(clippy::cast_possible_truncation, reason = "below a number of that type")]
    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}

/// Returns codes whose bits are set by chance.
pub(crate) fn random(width: Width, count: usize, seed: u64) -> Vec<u32> {
    let mut numbers = SplitMix64::new(seed);
    (0..count * width.words()).map(|_| numbers.word()).collect()
}

/// Returns codes set by chance, but every other one is one of `rows` with up to five bits changed.
pub(crate) fn near(width: Width, rows: &[u32], count: usize, seed: u64) -> Vec<u32> {
    let mut numbers = SplitMix64::new(seed);
    let words = width.words();
    let mut codes = random(width, count, seed ^ 1);
    for code in codes.chunks_exact_mut(words).step_by(2) {
        let row = numbers.below(rows.len() / words);
        code.copy_from_slice(&rows[row * words..(row + 1) * words]);
        for _ in 0..numbers.below(6) {
            let bit = numbers.below(words * 32);
            code[bit / 32] ^= 1 << (bit % 32);
        }
    }
    codes
}

/// Returns bitmaps of sets as large as sentences have words, ascending by size, and their sizes. One in ten is a copy
/// of another with some elements changed.
pub(crate) fn bitmaps(count: usize) -> (Vec<u32>, Vec<u32>) {
    const BITS: usize = 256;
    // About like English sentences: few are short, most have 8 to 25 words, some have many.
    let mut numbers = SplitMix64::new(3);
    let mut sizes: Vec<u32> = Vec::with_capacity(count);
    for _ in 0..count {
        let size =
            3 + numbers.below(12) + numbers.below(12) + if numbers.below(8) == 0 { numbers.below(30) } else { 0 };
        sizes.push(u32::try_from(size).unwrap_or(u32::MAX));
    }
    sizes.sort_unstable();
    let mut words = vec![0_u32; count * BITS / 32];
    for (row, size) in sizes.iter().enumerate() {
        let (before, own) = words.split_at_mut(row * BITS / 32);
        let own = &mut own[..BITS / 32];
        let copied = row > 0 && numbers.below(10) == 0;
        if copied {
            let from = row - 1 - numbers.below(row.min(1000));
            own.copy_from_slice(&before[from * BITS / 32..(from + 1) * BITS / 32]);
        }
        for _ in 0..if copied { 2 } else { *size } {
            let bit = numbers.below(BITS);
            own[bit / 32] ^= 1 << (bit % 32);
        }
    }
    (words, sizes)
}
