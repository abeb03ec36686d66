// Calls every function of the library from several threads at a time and prints the bits of what it gets, one number in
// a line.

mod functions;

use functions::{Context, Error, Layers, LinearModel, Matrix, Mode, Named, Options, Point};

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
    records(context, &v, &mut out)?;
    Ok(out)
}

// Whole numbers, truth values and records.
fn records(context: &mut Context, v: &[f64], out: &mut Vec<f64>) -> Result<(), Error> {
    let mut gx = 0.0;
    out.push(context.power_gradient(1.7, 3, Mode::Overwrite, Some(&mut gx))?);
    out.push(gx);
    for strictly in [true, false] {
        out.push(f64::from(context.less(1.5, 1.5, strictly)?));
    }
    let m = LinearModel { weights: &v[..5], bias: 0.125 };
    out.push(context.predict(m.clone(), &v[..5])?);
    let (x, y) = (Matrix { elements: &v[..200], rows: 40, columns: 5 }, &v[..40]);
    let mut g = LinearModel { weights: vec![0.0; 5], bias: 0.0 };
    out.push(context.badness_gradient(m.clone(), x.clone(), y, Mode::Overwrite, Some(&mut g))?);
    out.extend(&g.weights);
    out.push(g.bias);
    let product = context.badness_hvp(m.clone(), x.clone(), y, LinearModel { weights: &v[..5], bias: 0.5 })?;
    out.extend(product.weights);
    out.push(product.bias);
    let matrix = Matrix { elements: &v[..16], rows: 4, columns: 4 };
    let l = Layers { first: matrix, second: LinearModel { weights: &v[..4], bias: 0.25 }, scale_up: 1.5 };
    let mut gl = Layers {
        first: Matrix { elements: vec![0.0; 16], rows: 4, columns: 4 },
        second: LinearModel { weights: vec![0.0; 4], bias: 0.0 },
        scale_up: 0.0,
    };
    let (p, mut gp, mut gk) = (Point { x: 0.5, y: 1.5 }, Point { x: 0.0, y: 0.0 }, 0.0);
    let mode = Mode::Overwrite;
    out.push(context.network_gradient(l, (p, 2.5), mode, Some(&mut gl), Some(&mut gp), Some(&mut gk))?);
    out.extend(gl.first.elements);
    out.extend(gl.second.weights);
    out.extend([gl.second.bias, gl.scale_up, gp.x, gp.y, gk]);
    // Results of unknown length, and gradients of another one.
    let rows = Matrix { elements: &v[..80], rows: 40, columns: 2 };
    let (corner, row, layers, is_more, named) = context.corners(rows.clone(), 3)?;
    assert_eq!((corner, row), (Point { x: 3.0, y: 40.0 }, LinearModel { weights: v[..2].to_vec(), bias: v[2] }));
    assert_eq!((layers.first.elements, layers.second.weights), (v[..80].to_vec(), vec![3.0; 3]));
    assert_eq!((is_more, named), (true, Named { value: vec![3.0] }));
    g.weights.pop();
    let error = context.badness_gradient(m, x, y, Mode::Overwrite, Some(&mut g)).expect_err("4 is not 5");
    assert_eq!(error.message, "m_gradient.weights has another length than m.weights");
    assert_eq!(context.power(2.0, (1 << 53) + 1).expect_err("it is too large").code, 2);
    Ok(())
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
