// What a device can do at most: counting bits of numbers in registers, and reading memory, each with nothing else.

@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;

const ROUNDS = 256u;

// Each round counts the bits of eight words and adds them up. What is counted depends on the round, so that it is done.
@compute @workgroup_size(256)
fn count_bits(@builtin(global_invocation_id) thread: vec3<u32>) {
    let a = words[thread.x % 64u];
    let b = a * 3u + 1u;
    var low = vec4<u32>();
    var high = vec4<u32>();
    for (var round = 0u; round < ROUNDS; round++) {
        low += countOneBits(a ^ vec4(round));
        high += countOneBits(b ^ vec4(round));
    }
    let sum = low + high;
    let all = sum.x + sum.y + sum.z + sum.w;
    // It never is, which the compiler cannot know.
    if all == 0xffffffffu {
        sums[0] = all;
    }
}

// Each thread reads 64 times 16 bytes, side by side with those of the others.
@compute @workgroup_size(256)
fn read_memory(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let first = workgroup.x * 256u * 64u + lane;
    var all = vec4<u32>();
    for (var at = 0u; at < 64u; at++) {
        all |= words[first + at * 256u];
    }
    if (all.x & all.y & all.z & all.w) == 0x12345678u {
        sums[0] = all.x;
    }
}
