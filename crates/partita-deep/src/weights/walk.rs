//! All parameters of a network by name, with PyTorch's names and shapes.
//!
//! A name is the path through the network's structs; the last part is PyTorch's (`weight`, `bias`, `running_mean`,
//! `running_var`). Linear layers keep their weights transposed, which is undone on the way.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::{Tensor, TensorData};
use std::any::Any;
use std::collections::HashMap;

/// The current position of a walk through a network.
#[derive(Debug, Default)]
pub(crate) struct Place {
    path: Vec<String>,
    /// The type of the struct that holds the current field.
    owner: Vec<String>,
}

impl Place {
    pub fn enter(&mut self, name: &str, container: &str) {
        // The variant of an enum tells which network it is, not where in it we are.
        let name = if container.starts_with("Enum:") { "" } else { name };
        self.path.push(name.to_owned());
        self.owner.push(container.to_owned());
    }

    pub fn exit(&mut self) {
        self.path.pop();
        self.owner.pop();
    }

    /// The name of the current parameter.
    pub fn name(&self) -> String {
        let mut parts: Vec<&str> = self.path.iter().map(String::as_str).filter(|p| !p.is_empty()).collect();
        if let Some(last) = parts.last_mut() {
            *last = match *last {
                "gamma" => "weight",
                "beta" => "bias",
                other => other,
            };
        }
        parts.join(".")
    }

    /// Whether the current parameter is the weight of a linear layer.
    fn transposed(&self) -> bool {
        self.owner.last().is_some_and(|o| o == "Struct:Linear")
            && self.path.last().is_some_and(|p| p == "weight")
    }
}

/// Replace parameters by the values that `source` gives for their names and shapes; the others stay as they are.
pub(crate) fn fill<M: Module>(module: M, source: &mut Source<'_>) -> M {
    module.map(&mut Fill { place: Place::default(), source })
}

/// Gives the values for a name and a shape, if it has any.
pub(crate) type Source<'a> = dyn FnMut(&str, &[usize]) -> Option<Vec<f32>> + 'a;

/// Pass every parameter with its name and shape to `sink`.
pub(crate) fn each<M: Module>(module: &M, sink: &mut Sink<'_>) {
    module.visit(&mut Each { place: Place::default(), sink });
}

/// How many numbers a network has. Nothing is allocated for this, as weights may not have been created yet.
pub(crate) fn count<M: Module>(module: &M) -> usize {
    let mut count = Count(0);
    module.visit(&mut count);
    count.0
}

struct Count(usize);

impl ModuleVisitor for Count {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0 += param.lazy_shape().iter().product::<usize>();
    }
}

/// Takes the name, shape and values of a parameter.
pub(crate) type Sink<'a> = dyn FnMut(&str, &[usize], Vec<f32>) + 'a;

struct Fill<'a, 'b> {
    place: Place,
    source: &'a mut Source<'b>,
}

impl ModuleMapper for Fill<'_, '_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.place.enter(name, container);
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.place.exit();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let mut shape = param.lazy_shape().to_vec();
        let transposed = self.place.transposed();
        if transposed {
            shape.reverse();
        }
        let Some(values) = (self.source)(&self.place.name(), &shape) else { return param };
        let values = if transposed { transpose(&values, shape[0], shape[1]) } else { values };
        if transposed {
            shape.reverse();
        }
        let device = param.lazy_device();
        // Parameters that require a gradient still do so afterwards.
        param.map(|old| {
            let new = Tensor::from_data(TensorData::new(values, shape), &device);
            new.set_require_grad(old.is_require_grad())
        })
    }
}

struct Each<'a, 'b> {
    place: Place,
    sink: &'a mut Sink<'b>,
}

impl ModuleVisitor for Each<'_, '_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.place.enter(name, container);
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.place.exit();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let shape = tensor.dims().to_vec();
        let values = values(tensor);
        if self.place.transposed() {
            let values = transpose(&values, shape[0], shape[1]);
            (self.sink)(&self.place.name(), &[shape[1], shape[0]], values);
        } else {
            (self.sink)(&self.place.name(), &shape, values);
        }
    }
}

/// The network with the same weights on the same graph, but its own running moments: its inputs train the weights,
/// but leave no trace in the normalisation of the original network.
pub(crate) fn apart<M: Module>(module: &M) -> M {
    let mut tensors = Tensors::default();
    module.visit(&mut tensors);
    module.valid().train().map(&mut tensors)
}

/// The tensors of a network.
#[derive(Default)]
struct Tensors(HashMap<ParamId, Box<dyn Any>>);

impl ModuleVisitor for Tensors {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.insert(param.id, Box::new(param.val()));
    }
}

impl ModuleMapper for Tensors {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        match self.0.remove(&param.id).and_then(|tensor| tensor.downcast().ok()) {
            Some(tensor) => param.map(|_| *tensor),
            None => param,
        }
    }
}

/// The numbers of a tensor, row after row.
pub(crate) fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("numbers come back from the device")
}

/// A matrix of `rows` rows, transposed.
fn transpose(values: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|c| (0..rows).map(move |r| values[r * columns + c])).collect()
}
