//! Adam, whose step is a pass over every parameter of every network and costs more than a small network's products of
//! matrices.

use pulp::Arch;
use serde::{Deserialize, Serialize};
use tch::{TchError, Tensor};

/// β₁, β₂ and ε of Kingma and Ba (2015), algorithm 1, with the values of the paper.
pub(super) const PAPER: [f64; 3] = [0.9, 0.999, 1e-8];

/// What Adam remembers of parameters.
pub(super) struct Adam {
    /// β₁, β₂ and ε.
    constants: [f64; 3],
    steps: i32,
    moments: Vec<Moments>,
    /// Room for the gradient of one parameter, which becomes its step.
    room: Vec<f32>,
}

/// What Adam remembers, as numbers that can be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AdamMemory {
    steps: i32,
    /// For each parameter the numbers of [`Moments`], in its order.
    moments: Vec<[Vec<f32>; 2]>,
}

/// The decayed means of the gradient and of its square, for one parameter.
enum Moments {
    /// On a processor. One pass over these numbers replaces seven operators of libtorch, each of which fetches what the
    /// one before had in the cache; including copies from and to tensors, it takes less than half the time.
    Numbers { mean: Vec<f32>, square: Vec<f32> },
    /// On a GPU: the sum of squares s = v/(1 - β₂) instead of their mean v, and room for the divisor.
    Tensors { mean: Tensor, sum: Tensor, divisor: Tensor },
}

impl Adam {
    /// Before the first step.
    pub fn new(constants: [f64; 3], parameters: &[Tensor]) -> Self {
        let on_gpu = parameters.iter().any(|parameter| parameter.device().is_cuda());
        let moments = if on_gpu { Moments::tensors } else { Moments::numbers };
        Self { constants, steps: 0, moments: parameters.iter().map(moments).collect(), room: Vec::new() }
    }

    /// As after the steps that are remembered, which were on the same kind of device.
    pub fn resumed(constants: [f64; 3], parameters: &[Tensor], memory: &AdamMemory) -> Self {
        let mut adam = Self::new(constants, parameters);
        adam.steps = memory.steps;
        for (moments, kept) in adam.moments.iter_mut().zip(&memory.moments) {
            moments.restore(kept);
        }
        adam
    }

    /// Its state.
    ///
    /// # Errors
    /// Those of libtorch.
    pub fn memory(&self) -> Result<AdamMemory, TchError> {
        let moments = self.moments.iter().map(Moments::kept).collect::<Result<_, _>>()?;
        Ok(AdamMemory { steps: self.steps, moments })
    }

    /// θ ← θ - rate · m̂/(√v̂ + ε) with m̂ = m/(1 - β₁ᵗ), v̂ = v/(1 - β₂ᵗ).
    pub fn step(&mut self, parameters: &mut [Tensor], gradients: &[Tensor], rate: f64) {
        self.steps += 1;
        let [beta1, beta2, epsilon] = self.constants;
        let (first, second) = (1.0 - beta1.powi(self.steps), 1.0 - beta2.powi(self.steps));
        for ((parameter, gradient), moments) in parameters.iter_mut().zip(gradients).zip(&mut self.moments) {
            match moments {
                Moments::Numbers { mean, square } => {
                    self.room.resize(mean.len(), 0.0);
                    gradient.copy_data(&mut self.room, mean.len());
                    Arch::new().dispatch(Pass {
                        mean,
                        square,
                        step: &mut self.room,
                        shares: [1.0 - beta1, 1.0 - beta2].map(|share| share as f32),
                        rate: (rate / first) as f32,
                        root: (1.0 / second).sqrt() as f32,
                        epsilon: epsilon as f32,
                    });
                    *parameter -= Tensor::from_slice(&self.room).view_as(parameter);
                }
                Moments::Tensors { mean, sum, divisor } => {
                    // With r = √((1 - β₂)/(1 - β₂ᵗ)), √v̂ = r √s, and the step is rate/((1 - β₁ᵗ) r) · m/(√s + ε/r):
                    // keeping s saves a pass over memory.
                    let root = ((1.0 - beta2) / second).sqrt();
                    let length = rate / (first * root);
                    let _ = mean.lerp_(gradient, 1.0 - beta1);
                    let _ = sum.g_mul_scalar_(beta2).addcmul_(gradient, gradient);
                    // What is written to is the argument.
                    let _ = sum.sqrt_out(divisor);
                    let _ = divisor.g_add_scalar_(epsilon / root).g_mul_scalar_(-1.0 / length);
                    let _ = parameter.addcdiv_(mean, divisor);
                }
            }
        }
    }
}

impl Moments {
    fn numbers(parameter: &Tensor) -> Self {
        let zeros = vec![0.0; parameter.numel()];
        Self::Numbers { mean: zeros.clone(), square: zeros }
    }

    fn tensors(parameter: &Tensor) -> Self {
        let [mean, sum, divisor] = std::array::from_fn(|_| parameter.zeros_like());
        Self::Tensors { mean, sum, divisor }
    }

    fn kept(&self) -> Result<[Vec<f32>; 2], TchError> {
        let numbers = |tensor: &Tensor| Vec::try_from(tensor.flatten(0, -1));
        match self {
            Self::Numbers { mean, square } => Ok([mean.clone(), square.clone()]),
            Self::Tensors { mean, sum, .. } => Ok([numbers(mean)?, numbers(sum)?]),
        }
    }

    fn restore(&mut self, [first, second]: &[Vec<f32>; 2]) {
        match self {
            Self::Numbers { mean, square } => (*mean, *square) = (first.clone(), second.clone()),
            Self::Tensors { mean, sum, .. } => {
                mean.copy_(&Tensor::from_slice(first).view_as(mean));
                sum.copy_(&Tensor::from_slice(second).view_as(sum));
            }
        }
    }
}

/// The step of one parameter: m ← m + (1 - β₁)(g - m), v ← v + (1 - β₂)(g² - v) and
/// rate/(1 - β₁ᵗ) · m/(√v/√(1 - β₂ᵗ) + ε).
///
/// Each number separately, with the operations of the standard: the width of the registers changes no result.
struct Pass<'a> {
    mean: &'a mut [f32],
    square: &'a mut [f32],
    /// The gradient before the pass.
    step: &'a mut [f32],
    /// 1 - β₁ and 1 - β₂.
    shares: [f32; 2],
    /// rate/(1 - β₁ᵗ).
    rate: f32,
    /// 1/√(1 - β₂ᵗ).
    root: f32,
    epsilon: f32,
}

impl pulp::NullaryFnOnce for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { mean, square, step, shares: [first, second], rate, root, epsilon } = self;
        for ((mean, square), step) in mean.iter_mut().zip(square).zip(step) {
            let gradient = *step;
            *mean += first * (gradient - *mean);
            *square += second * (gradient * gradient - *square);
            *step = rate * *mean / (square.sqrt() * root + epsilon);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::{Device, Kind};

    /// Parameters that start at `start` and meet these gradients.
    fn stepped(moments: fn(&Tensor) -> Moments, start: &Tensor, gradients: &[Tensor]) -> Vec<f32> {
        let mut parameters = [start.copy()];
        let mut adam = Adam { moments: vec![moments(start)], ..Adam::new(PAPER, &[]) };
        for gradient in gradients {
            adam.step(&mut parameters, std::slice::from_ref(gradient), 0.01);
        }
        parameters[0].flatten(0, -1).try_into().unwrap()
    }

    #[test]
    fn both_ways_are_the_algorithm() {
        let (mut theta, mut m, mut v) = (0.5f64, 0.0, 0.0);
        let gradients = [0.3f64, -0.1, 0.7];
        for (step, g) in gradients.into_iter().enumerate() {
            let t = step as i32 + 1;
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            theta -= 0.01 * (m / (1.0 - 0.9f64.powi(t))) / ((v / (1.0 - 0.999f64.powi(t))).sqrt() + 1e-8);
        }
        let gradients = gradients.map(|gradient| Tensor::from_slice(&[gradient as f32]));
        for moments in [Moments::numbers, Moments::tensors] {
            let found = f64::from(stepped(moments, &Tensor::from_slice(&[0.5f32]), &gradients)[0]);
            assert!((found - theta).abs() < 1e-6, "{found} {theta}");
        }
    }

    #[test]
    fn what_is_remembered_goes_on() {
        let start = Tensor::from_slice(&[0.5f32, -1.0]);
        let gradients: Vec<Tensor> =
            (0..6).map(|step| Tensor::from_slice(&[0.3f32 * step as f32 - 0.4, (step as f32).sin()])).collect();
        for moments in [Moments::numbers, Moments::tensors] {
            let fresh = || Adam { moments: vec![moments(&start)], ..Adam::new(PAPER, &[]) };
            let (mut parameters, mut adam) = ([start.copy()], fresh());
            for gradient in &gradients[..3] {
                adam.step(&mut parameters, std::slice::from_ref(gradient), 0.01);
            }
            let memory = adam.memory().unwrap();
            let text = serde_json::to_string(&memory).unwrap();
            let kept: AdamMemory = serde_json::from_str(&text).unwrap();
            assert_eq!(kept, memory);
            let mut again = fresh();
            again.steps = kept.steps;
            again.moments[0].restore(&kept.moments[0]);
            for gradient in &gradients[3..] {
                again.step(&mut parameters, std::slice::from_ref(gradient), 0.01);
            }
            let found: Vec<f32> = (&parameters[0]).try_into().unwrap();
            assert_eq!(found, stepped(moments, &start, &gradients));
        }
    }

    /// 5 · 7 · 11 numbers fill no register, gradients span ten orders of magnitude, and the first is always 0.
    #[test]
    fn a_pass_over_numbers_is_that_over_tensors() {
        let shape = [5, 7, 11];
        let line = Tensor::linspace(0.0, 384.0, 385, (Kind::Float, Device::Cpu));
        let gradients: Vec<Tensor> = (0..40)
            .map(|step| ((&line * 0.7 + f64::from(step)).sin() * (&line * -0.06).exp() * &line).view(shape))
            .collect();
        let start = (&line * 0.3).cos().view(shape);
        let [numbers, tensors] =
            [Moments::numbers, Moments::tensors].map(|moments| stepped(moments, &start, &gradients));
        let furthest = numbers.iter().zip(&tensors).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
        println!("furthest apart {furthest:e}");
        assert!(furthest < 2e-6);
        assert_eq!(numbers[0], 1.0);
        assert!(numbers[1..].iter().zip(&tensors).all(|(number, _)| number.is_finite()));
    }
}
