alias Code = vec2<u32>;

fn distance(a: Code, b: Code) -> u32 {
    let bits = countOneBits(a ^ b);
    return bits.x + bits.y;
}
