// Calls every function of the library from several threads at a time and prints the bits of what it gets, one number in
// a line.

mod functions;

use functions::{Context, Error, Matrix, Mode, Options};

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|k| (7 * k % 11) as f64 / 4.0 - 1.1).collect()
}

fn answers(context: &mut Context) -> Result<Vec<f64>, Error> {
    let v = numbers(2000);
    let matrix = |rows, columns| Matrix { elements: &v[..rows * columns], rows, columns };
    let mut out = vec![context.square(1.7)?, context.norm(&v[..50])?, context.lookup(3.0)?];
    out.extend(context.multiply(matrix(20, 50), &v[..50])?);
    let scaled = context.scale(0.3, matrix(3, 2))?;
    assert_eq!((scaled.rows, scaled.columns), (3, 2));
    out.extend(scaled.elements);
    let (swapped, number) = context.swap((7.5, &v[..3]))?;
    out.extend(swapped);
    out.extend([number, context.deep(100000.0)?]);
    let (exp, sin, tanh, logs) = context.elementary(&v[..9])?;
    out.extend([exp, sin, tanh]);
    out.extend(logs);
    out.push(context.bubbles(300.0)?);
    out.push(context.cube(1.7)?);
    let (w, b, x, y) = (&v[..5], 0.125, matrix(40, 5), &v[..40]);
    out.push(context.loss(w, b, x.clone(), y)?);
    let (mut gw, mut gb) = (vec![0.0; 5], 0.0);
    out.push(context.loss_gradient(w, b, x.clone(), y, Mode::Overwrite, Some(&mut gw), Some(&mut gb))?);
    out.extend(&gw);
    out.push(gb);
    context.loss_gradient(w, b, x, y, Mode::Accumulate, Some(&mut gw), Some(&mut gb))?;
    out.extend(&gw);
    out.push(gb);
    let (mut gm, mut gv, mut gk) = (vec![0.0; 12], vec![0.0; 3], 0.0);
    let (p, mode) = ((matrix(4, 3), &v[..3]), Mode::Overwrite);
    out.push(context.energy_gradient(p, 0.75, mode, Some(&mut gm), Some(&mut gv), Some(&mut gk))?);
    out.extend(gm);
    out.extend(gv);
    out.push(gk);
    Ok(out)
}

fn work() -> Vec<f64> {
    let mut context = Context::new(&Options::default()).expect("there is memory");
    let out = answers(&mut context).expect("nothing fails");
    let error = context.lookup(7.0).expect_err("there are five");
    assert!(error.code == 1 && error.message.contains("7 is no index of a vector of length 5"), "{error}");
    let (v, mut short) = (numbers(12), vec![0.0; 2]);
    let wrong = Matrix { elements: &v[..], rows: 5, columns: 3 };
    assert_eq!(context.scale(1.0, wrong).expect_err("12 is not 5 times 3").code, 2);
    let x = Matrix { elements: &v[..], rows: 4, columns: 3 };
    let error = context.loss_gradient(&v[..3], 0.0, x, &v[..4], Mode::Overwrite, Some(&mut short), None);
    assert_eq!(error.expect_err("2 is not 3").code, 2);
    assert_eq!(context.len(1.0, 2.0, 3.0), Ok((1.0, vec![2.0, 3.0])));
    // More than there is room for at first.
    let long = numbers(1000);
    assert_eq!(context.swap((1.0, &long)).expect("it fits in the end"), (long, 1.0));
    assert_eq!(answers(&mut context).expect("nothing fails"), out);
    out
}

fn main() {
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(work)).collect();
    let all: Vec<Vec<f64>> = threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect();
    assert!(all.iter().all(|numbers| *numbers == all[0]));
    for number in &all[0] {
        println!("{:016x}", number.to_bits());
    }
}
