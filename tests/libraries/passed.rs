//! Passes closures and texts to the library of `passed.vlad`, some of which fail.

mod passed;

use passed::{Context, Error, Mode, Options};

fn valley(x: &[f64], gradient: Option<&mut [f64]>) -> Result<f64, Error> {
    let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
    if let Some(gradient) = gradient {
        gradient.copy_from_slice(&[-2.0 * a - 400.0 * x[0] * b, 200.0 * b]);
    }
    Ok(a * a + 100.0 * b * b)
}

fn main() -> Result<(), Error> {
    let mut context = Context::new(&Options::default())?;
    let start = [-1.2, 1.0];
    let mut calls = 0;
    let counted = |x: &[f64], gradient: Option<&mut [f64]>| {
        calls += 1;
        valley(x, gradient)
    };
    let found = context.fit(counted, &start)?;
    assert!(calls > 10 && found.iter().all(|x| (x - 1.0).abs() < 1e-6), "{calls} {found:?}");
    let found = context.simplex(|x, _| valley(x, None), &start)?;
    assert!(found.iter().all(|x| (x - 1.0).abs() < 1e-4), "{found:?}");
    let line = |x: &[f64], jacobian: Option<&mut Vec<f64>>| {
        if let Some(jacobian) = jacobian {
            jacobian.extend((0..100).flat_map(|i| [1.0, f64::from(i)]));
        }
        Ok((0..100).map(|i| x[0] - 7.0 + f64::from(i) * (x[1] - 3.0)).collect())
    };
    let found = context.curve(line, &start)?;
    assert!((found[0] - 7.0).abs() < 1e-6 && (found[1] - 3.0).abs() < 1e-6, "{found:?}");
    let mut slope = 0.0;
    let square = |x: f64, gradient: Option<&mut [f64]>| {
        gradient.into_iter().for_each(|gradient| gradient[0] = 2.0 * x);
        Ok(x * x)
    };
    assert_eq!(context.twice_gradient(square, 3.0, Mode::Overwrite, Some(&mut slope))?, 729.0);
    assert_eq!(slope, 1458.0);

    let (mut x_slope, mut v_slope) = (0.0, [0.0; 2]);
    let mixed = |n: i64, x: f64, b: bool, v: &[f64], name: &str, gradient: Option<&mut [f64]>| {
        let (n, sum) = (n as f64, v.iter().sum::<f64>());
        if let Some(gradient) = gradient {
            gradient.copy_from_slice(&[n * sum, n * x, n * x]);
        }
        Ok(n * x * sum + if b { name.chars().count() as f64 } else { 0.0 })
    };
    let mode = Mode::Overwrite;
    let value =
        context.mixed_gradient(mixed, 3, 0.5, &[1.0, 2.0], "wörld", mode, Some(&mut x_slope), Some(&mut v_slope))?;
    assert_eq!((value, x_slope, v_slope), (45.5, 81.0, [13.5, 13.5]));
    assert_eq!(context.chosen(|n, up, name, _| Ok(n as f64 + f64::from(up) + name.len() as f64), 77, true)?, -74.0);

    let mine = |code: i32| Error { code, message: "mine".to_string() };
    assert_eq!(context.fit(|_, _| Err(mine(77)), &start), Err(mine(77)));
    assert_eq!(context.guarded(|_, _| Err(mine(78)), 1.0), Err(mine(78)));
    let error = context.fit(|x, _| valley(x, None), &start).expect_err("there is no gradient");
    assert!(error.code == 6 && error.message.contains("has not written all of it"), "{error}");
    let error = context.curve(|x, _| Ok(x.to_vec()), &start).expect_err("there is no Jacobian");
    assert_eq!(error.to_string(), "a function gave 0 derivatives, not 2 * 2");
    assert_eq!(context.newton(valley, &start).expect_err("there is no second derivative").code, 1);
    std::panic::set_hook(Box::new(|_| {}));
    let panics = std::panic::AssertUnwindSafe(|| context.guarded(|_, _| panic!("oh"), 1.0));
    let payload = std::panic::catch_unwind(panics).expect_err("it panics");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"oh"));
    assert_eq!(context.twice(square, 3.0)?, 729.0);

    assert_eq!(context.greet("wörld")?, "hello, wörld!");
    assert_eq!(context.greet(&"x".repeat(1000))?.len(), 1008);
    assert_eq!(context.describe(2.0)?, ("2.00".to_string(), 2.0, "positive".to_string()));
    assert_eq!(context.characters(("wörld", 1.0, ""))?, 6.0);
    assert_eq!(context.greet("a\0b").expect_err("it has a zero").code, 2);
    println!("all right");
    Ok(())
}
