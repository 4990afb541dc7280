//! rust-rdkafka as a client program: `serve BOOTSTRAP` goes through scenarios, `member ...` joins a
//! group. Both speak the lines of compat_tests/program.py and compat_tests/member_events.py.

mod administration;
mod events;
mod lines;
mod member;
mod records;
mod serve;
mod transactions;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.split_first() {
        Some((mode, [bootstrap])) if mode == "serve" => serve::serve(bootstrap),
        Some((mode, options)) if mode == "member" => member::run(&events::Options::parse(options)),
        _ => {
            eprintln!("usage: rust_client serve BOOTSTRAP | member --bootstrap ADDRESS ...");
            std::process::exit(2);
        }
    }
}
