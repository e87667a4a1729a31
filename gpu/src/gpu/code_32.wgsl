alias Code = u32;

fn distance(a: Code, b: Code) -> u32 {
    return countOneBits(a ^ b);
}
