//! The program `ibid`.

mod allocator;

fn main() -> std::process::ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    ibid_cli::run(&arguments, allocator::give_back).into()
}
