//! One head in training: a student, and the teacher that follows it.

use super::Temi;
use super::loss::{Pairs, probabilities, update_marginal};
use super::network::{DECAYING, LAST_LAYER, Network, Shape, Trace};
use crate::numeric::optimise::Memory;
use crate::rivals::parts::adam;
use crate::rng::{Stream, stream};

/// A student, its teacher, and what belongs to them.
pub(super) struct Learner {
    student: Network,
    memory: [Memory; 6],
    pub teacher: Network,
    /// Running mean of the teacher's probabilities.
    marginal: Vec<f32>,
    /// Sum of the losses in this epoch.
    pub loss: f64,
}

/// What the student and the teacher of a learner predict for a batch.
pub(super) struct Predictions {
    trace: Trace,
    student: Vec<f32>,
    pub teacher: Vec<f32>,
}

impl Learner {
    pub fn new(shape: Shape, seed: u64, index: u64) -> Self {
        let student = Network::new(shape, &mut stream(seed, Stream::Init, index));
        let marginal = vec![1.0 / shape.k as f32; shape.k];
        Self { teacher: student.clone(), student, memory: Default::default(), marginal, loss: 0.0 }
    }

    pub fn look(&mut self, x: &[f32], options: &Temi) -> Predictions {
        let (k, temperature) = (options.k, options.temperature);
        let trace = self.student.forward(x);
        let student = probabilities(&trace.logits, temperature, k);
        let teacher = probabilities(&self.teacher.forward(x).logits, temperature, k);
        update_marginal(&mut self.marginal, &teacher, options.marginal_momentum);
        Predictions { trace, student, teacher }
    }

    /// Learn from the predictions for the pairs in `x`.
    pub fn learn(
        &mut self,
        x: &[f32],
        predictions: &Predictions,
        weights: &[f32],
        options: &Temi,
        pace: Step,
    ) {
        let Temi { beta, temperature, heads, .. } = *options;
        let pairs =
            Pairs { teacher: &predictions.teacher, marginal: &self.marginal, weights, beta, temperature };
        let (loss, mut by_logits) = pairs.gradient(&predictions.student);
        self.loss += loss;
        // The loss of a step is the mean over the heads.
        by_logits.iter_mut().for_each(|d| *d /= heads as f32);
        let gradient = self.student.backward(x, &predictions.trace, &by_logits);
        self.step(&gradient, options.decay, pace);
        self.follow(options.teacher_momentum as f32);
    }

    /// One step of AdamW.
    fn step(&mut self, gradient: &Network, decay: f64, Step { rate, number, frozen }: Step) {
        let parts = self.student.parts_mut().into_iter().zip(gradient.parts()).zip(&mut self.memory);
        for (p, ((values, gradient), memory)) in parts.enumerate() {
            let rest = if LAST_LAYER.contains(&p) { frozen } else { 0 };
            if number < rest {
                continue;
            }
            let decay = if DECAYING.contains(&p) { decay } else { 0.0 };
            adam(values, gradient, memory, (rate, decay), (number - rest + 1) as u32);
        }
    }

    /// The teacher moves a little towards the student.
    fn follow(&mut self, momentum: f32) {
        for (teacher, student) in self.teacher.parts_mut().into_iter().zip(self.student.parts()) {
            teacher.iter_mut().zip(student).for_each(|(t, s)| *t = momentum * *t + (1.0 - momentum) * s);
        }
    }
}

/// Numbers that belong to one step.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub rate: f64,
    /// From 0.
    pub number: usize,
    /// Steps in which the last layer rests.
    pub frozen: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_layer_rests_at_first() {
        let shape = Shape { m: 2, hidden: 3, bottleneck: 2, k: 2 };
        let mut learner = Learner::new(shape, 0, 0);
        let before = learner.student.clone();
        let gradient = before.clone();
        learner.step(&gradient, 0.0, Step { rate: 0.1, number: 4, frozen: 5 });
        assert_eq!(learner.student.direction, before.direction);
        assert_ne!(learner.student.first, before.first);
        learner.step(&gradient, 0.0, Step { rate: 0.1, number: 5, frozen: 5 });
        assert_ne!(learner.student.direction, before.direction);
    }

    #[test]
    fn the_teacher_is_a_running_mean_of_the_student() {
        let mut learner = Learner::new(Shape { m: 2, hidden: 3, bottleneck: 2, k: 2 }, 0, 0);
        let before = learner.teacher.first[0];
        learner.student.first[0] = before + 1.0;
        learner.follow(0.75);
        assert!((learner.teacher.first[0] - before - 0.25).abs() < 1e-6);
    }
}
