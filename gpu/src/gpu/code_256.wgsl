struct Code {
    low: vec4<u32>,
    high: vec4<u32>,
}

fn distance(a: Code, b: Code) -> u32 {
    let bits = countOneBits(a.low ^ b.low) + countOneBits(a.high ^ b.high);
    return bits.x + bits.y + bits.z + bits.w;
}
