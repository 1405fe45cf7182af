//! A reader of the part of Python's pickle format that state dicts need, and nothing more.
//!
//! A pickle is a program for a small stack machine. This machine makes numbers, text, lists, tuples and dictionaries,
//! and knows a handful of functions with which PyTorch rebuilds tensors. Any other call is refused, so no foreign
//! code can run. Every object is stored once in an arena and referred to by its place: memory grows only with the
//! length of the program, however often it refers to the same object.

use super::cursor::Cursor;

/// A value on the stack. Compound values are places in the [`Arena`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float,
    Text(usize),
    /// A list or a tuple.
    Items(usize),
    Dict(usize),
    /// A name in a module, as text `module.name`.
    Global(usize),
    Tensor(usize),
    /// What `BINPERSID` refers to: a storage, by the items that describe it.
    Persistent(usize),
    /// Something that is not needed here.
    Opaque,
}

/// A tensor as the program describes it, not read yet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TensorSpec {
    /// The items that describe its storage.
    pub storage: usize,
    pub offset: usize,
    pub shape: Vec<usize>,
    pub stride: Vec<usize>,
}

/// All objects that a program made.
#[derive(Debug, Default)]
pub(super) struct Arena {
    pub texts: Vec<String>,
    pub items: Vec<Vec<Value>>,
    pub dicts: Vec<Vec<(Value, Value)>>,
    pub tensors: Vec<TensorSpec>,
}

impl Arena {
    /// The text of a value, if it is text.
    pub fn text(&self, value: Value) -> Option<&str> {
        match value {
            Value::Text(at) | Value::Global(at) => Some(&self.texts[at]),
            _ => None,
        }
    }

    fn new_text(&mut self, text: String) -> usize {
        self.texts.push(text);
        self.texts.len() - 1
    }

    fn new_items(&mut self, items: Vec<Value>) -> Value {
        self.items.push(items);
        Value::Items(self.items.len() - 1)
    }

    fn new_dict(&mut self) -> Value {
        self.dicts.push(Vec::new());
        Value::Dict(self.dicts.len() - 1)
    }

    /// The whole numbers in a list or tuple.
    fn sizes(&self, value: Value) -> Option<Vec<usize>> {
        let Value::Items(at) = value else { return None };
        self.items[at].iter().map(|v| size(*v)).collect()
    }
}

fn size(value: Value) -> Option<usize> {
    match value {
        Value::Int(i) => usize::try_from(i).ok(),
        _ => None,
    }
}

/// A result, or a few words that say what went wrong.
pub(super) type Parsed<T> = Result<T, String>;

struct Machine<'a, 'b> {
    code: &'a mut Cursor<'b>,
    arena: &'a mut Arena,
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: std::collections::HashMap<u64, Value>,
}

/// Run one program from the cursor; the objects go to `arena`.
pub(super) fn load(code: &mut Cursor<'_>, arena: &mut Arena) -> Parsed<Value> {
    let mut machine = Machine { code, arena, stack: Vec::new(), marks: Vec::new(), memo: Default::default() };
    loop {
        let op = machine.code.u8()?;
        if op == b'.' {
            return machine.pop();
        }
        machine.step(op)?;
    }
}

impl Machine<'_, '_> {
    fn step(&mut self, op: u8) -> Parsed<()> {
        match op {
            0x80 => self.code.u8().map(drop),
            0x95 => self.code.u64().map(drop),
            b'(' => {
                self.marks.push(self.stack.len());
                Ok(())
            }
            b'N' | 0x88 | 0x89 | b'J' | b'K' | b'M' | 0x8a | b'G' => self.number(op),
            b'X' | 0x8c | 0x8d | b'c' | 0x93 => self.words(op),
            b')' | b']' | b'}' | b't' | 0x85..=0x87 | b'l' | b'd' => self.container(op),
            b'a' | b'e' | b's' | b'u' => self.fill(op),
            b'q' | b'r' | b'h' | b'j' | 0x94 => self.remember(op),
            b'0' => self.pop().map(drop),
            b'Q' => {
                let Value::Items(at) = self.pop()? else { return Err("a storage that is no tuple".into()) };
                self.stack.push(Value::Persistent(at));
                Ok(())
            }
            b'R' => self.call(),
            // The state of an object, such as the version numbers attached to an ordered dictionary.
            b'b' => self.pop().map(drop),
            _ => Err(format!("instruction {op:#04x}, which no state dict needs")),
        }
    }

    fn number(&mut self, op: u8) -> Parsed<()> {
        let value = match op {
            b'N' => Value::None,
            0x88 | 0x89 => Value::Bool(op == 0x88),
            b'J' => Value::Int(i64::from(self.code.u32()? as i32)),
            b'K' => Value::Int(i64::from(self.code.u8()?)),
            b'M' => Value::Int(i64::from(u16::from_le_bytes(self.code.array()?))),
            b'G' => {
                self.code.u64()?;
                Value::Float
            }
            _ => self.long()?,
        };
        self.stack.push(value);
        Ok(())
    }

    /// A whole number of up to eight bytes; a longer one (PyTorch's old magic number) is not needed.
    fn long(&mut self) -> Parsed<Value> {
        let len = usize::from(self.code.u8()?);
        let bytes = self.code.take(len)?;
        if len > 8 {
            return Ok(Value::Opaque);
        }
        let negative = bytes.last().is_some_and(|b| b & 0x80 != 0);
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        wide[..len].copy_from_slice(bytes);
        Ok(Value::Int(i64::from_le_bytes(wide)))
    }

    fn words(&mut self, op: u8) -> Parsed<()> {
        let value = match op {
            b'c' => {
                let name = format!("{}.{}", self.code.line()?, self.code.line()?);
                Value::Global(self.arena.new_text(name))
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (Some(module), Some(name)) = (self.arena.text(module), self.arena.text(name)) else {
                    return Err("a name that is no text".into());
                };
                let name = format!("{module}.{name}");
                Value::Global(self.arena.new_text(name))
            }
            _ => {
                let len = match op {
                    b'X' => u64::from(self.code.u32()?),
                    0x8c => u64::from(self.code.u8()?),
                    _ => self.code.u64()?,
                };
                let bytes = self.code.take(usize::try_from(len).map_err(|_| "text without end")?)?;
                let text = std::str::from_utf8(bytes).map_err(|_| "text that is not UTF-8")?;
                Value::Text(self.arena.new_text(text.to_owned()))
            }
        };
        self.stack.push(value);
        Ok(())
    }

    fn container(&mut self, op: u8) -> Parsed<()> {
        let value = match op {
            b')' | b']' => self.arena.new_items(Vec::new()),
            b'}' => self.arena.new_dict(),
            b'd' => {
                let items = self.since_mark()?;
                let dict = self.arena.new_dict();
                self.stack.push(dict);
                return self.set_items(items);
            }
            _ => {
                let items = match op {
                    b't' | b'l' => self.since_mark()?,
                    _ => self.last(usize::from(op - 0x84))?,
                };
                self.arena.new_items(items)
            }
        };
        self.stack.push(value);
        Ok(())
    }

    fn fill(&mut self, op: u8) -> Parsed<()> {
        let values = match op {
            b'a' => self.last(1)?,
            b's' => self.last(2)?,
            _ => self.since_mark()?,
        };
        match op {
            b's' | b'u' => self.set_items(values),
            _ => {
                let Some(&Value::Items(at)) = self.stack.last() else {
                    return Err("no list to add to".into());
                };
                self.arena.items[at].extend(values);
                Ok(())
            }
        }
    }

    fn set_items(&mut self, values: Vec<Value>) -> Parsed<()> {
        let Some(&Value::Dict(at)) = self.stack.last() else {
            // Attributes of an opaque object.
            return Ok(());
        };
        if !values.len().is_multiple_of(2) {
            return Err("a key without a value".into());
        }
        self.arena.dicts[at].extend(values.chunks_exact(2).map(|pair| (pair[0], pair[1])));
        Ok(())
    }

    fn remember(&mut self, op: u8) -> Parsed<()> {
        let key = match op {
            b'q' | b'h' => u64::from(self.code.u8()?),
            b'r' | b'j' => u64::from(self.code.u32()?),
            _ => self.memo.len() as u64,
        };
        if matches!(op, b'h' | b'j') {
            let value = *self.memo.get(&key).ok_or("a reference to nothing")?;
            self.stack.push(value);
        } else {
            let value = *self.stack.last().ok_or("nothing to remember")?;
            self.memo.insert(key, value);
        }
        Ok(())
    }

    /// The few calls that rebuild a state dict.
    fn call(&mut self) -> Parsed<()> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let (Value::Items(at), Value::Global(name)) = (arguments, function) else {
            return Err("a call without a name or arguments".into());
        };
        let arguments = self.arena.items[at].clone();
        let value = match &*self.arena.texts[name] {
            "collections.OrderedDict" => self.arena.new_dict(),
            "torch._utils._rebuild_tensor_v2" | "torch._utils._rebuild_tensor" => self.tensor(&arguments)?,
            "torch._utils._rebuild_parameter" => *arguments.first().ok_or("a parameter without a tensor")?,
            other => return Err(format!("a call of `{other}`, which no state dict needs")),
        };
        self.stack.push(value);
        Ok(())
    }

    fn tensor(&mut self, arguments: &[Value]) -> Parsed<Value> {
        let [Value::Persistent(storage), offset, shape, stride, ..] = *arguments else {
            return Err("a tensor without a storage".into());
        };
        let spec = (|| {
            let (shape, stride) = (self.arena.sizes(shape)?, self.arena.sizes(stride)?);
            let whole = shape.len() == stride.len() && shape.len() <= 8;
            whole.then_some(TensorSpec { storage, offset: size(offset)?, shape, stride })
        })();
        self.arena.tensors.push(spec.ok_or("a tensor of no possible shape")?);
        Ok(Value::Tensor(self.arena.tensors.len() - 1))
    }

    fn pop(&mut self) -> Parsed<Value> {
        self.stack.pop().ok_or_else(|| "nothing left on the stack".into())
    }

    fn last(&mut self, count: usize) -> Parsed<Vec<Value>> {
        let start = self.stack.len().checked_sub(count).ok_or("too little on the stack")?;
        Ok(self.stack.split_off(start))
    }

    fn since_mark(&mut self) -> Parsed<Vec<Value>> {
        let mark = self.marks.pop().filter(|&mark| mark <= self.stack.len()).ok_or("no mark on the stack")?;
        Ok(self.stack.split_off(mark))
    }
}
