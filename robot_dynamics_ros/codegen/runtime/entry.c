// SPDX-License-Identifier: Apache-2.0
/*
 * The way from Python into compiled kernels: checks arrays and calls an address.
 *
 * A Function knows nothing of robots. It holds the addresses of the kernels of one function of a
 * model, for one state and for a batch, without and with a wrench. Called with float64 arrays of
 * the right form it runs a kernel; with anything else it calls its fallback, which converts, or
 * says what is wrong. The constants of the kernels are looked up with every call in
 * `constants[0]`, a dict: replacing this one list entry replaces all parameters at once.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

enum { INPUTS = 4, WRENCH = 6, RELEASE_LOCK_FROM = 64 };

typedef int (*single_kernel)(const double *, const double *, const double *, const double *,
                             const double *, double *);
typedef int (*batch_kernel)(long long, const double *, const double *, const double *,
                            const double *, const double *, double *);

typedef struct {
    PyObject *key;   /* of its constants */
    PyObject *owner; /* keeps the code in memory */
    single_kernel single;
    batch_kernel batch;
} kernel_pair;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *fallback;
    PyObject *constants;
    kernel_pair kernels[2]; /* without and with wrench */
    Py_ssize_t inputs;
    npy_intp joints;
    npy_intp lanes; /* a batch kernel needs at least as many states */
    int dimensions;
    npy_intp shape[2];
    npy_intp size;
} function_object;

static PyObject *name_out, *name_wrench;

/* Data of an array that a kernel can read, or NULL. */
static double *usable(PyObject *object, int dimensions, npy_intp count, npy_intp width, int flags)
{
    if (!PyArray_CheckExact(object)) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    if (PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISNOTSWAPPED(array)
        || (PyArray_FLAGS(array) & flags) != flags || PyArray_NDIM(array) != dimensions
        || PyArray_DIM(array, dimensions - 1) != width
        || (dimensions == 2 && PyArray_DIM(array, 0) != count)) {
        return NULL;
    }
    return (double *)PyArray_DATA(array);
}

/* An array for the result: the given one if it fits, a new one if none is given. */
static PyObject *result_array(const function_object *self, PyObject *out, int batch,
                              npy_intp count)
{
    npy_intp shape[3] = {count, self->shape[0], self->shape[1]};
    npy_intp *dims = batch ? shape : shape + 1;
    int dimensions = self->dimensions + batch;
    if (out == NULL) {
        return PyArray_SimpleNew(dimensions, dims, NPY_DOUBLE);
    }
    if (!PyArray_CheckExact(out)) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)out;
    if (PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISCARRAY(array)
        || PyArray_NDIM(array) != dimensions
        || !PyArray_CompareLists(PyArray_DIMS(array), dims, dimensions)) {
        return NULL;
    }
    Py_INCREF(out);
    return out;
}

static int overlap(const double *a, npy_intp a_size, const double *b, npy_intp b_size)
{
    return a != NULL && a < b + b_size && b < a + a_size;
}

static int run_batch(const function_object *self, const kernel_pair *kernel, npy_intp count,
                     const double **inputs, npy_intp *widths, const double *k, double *out)
{
    if (count >= self->lanes && kernel->batch != NULL) {
        int status;
        PyThreadState *state = count >= RELEASE_LOCK_FROM ? PyEval_SaveThread() : NULL;
        status = kernel->batch(count, inputs[0], inputs[1], inputs[2], inputs[3], k, out);
        if (state != NULL) {
            PyEval_RestoreThread(state);
        }
        return status;
    }
    if (count >= self->lanes || kernel->single == NULL) {
        return 1;
    }
    for (npy_intp i = 0; i < count; i++) {
        const double *row[INPUTS];
        for (int j = 0; j < INPUTS; j++) {
            row[j] = inputs[j] == NULL ? NULL : inputs[j] + i * widths[j];
        }
        if (kernel->single(row[0], row[1], row[2], row[3], k, out + i * self->size) != 0) {
            return 1;
        }
    }
    return 0;
}

/* Run a kernel. NULL without an exception: this call is not one for a kernel. */
static PyObject *attempt(function_object *self, PyObject *const *args, Py_ssize_t count_args,
                         PyObject *wrench, PyObject *out)
{
    const double *inputs[INPUTS] = {NULL, NULL, NULL, NULL};
    npy_intp widths[INPUTS] = {0, 0, 0, 0};
    if (self->constants == NULL || count_args != self->inputs || !PyArray_CheckExact(args[0])) {
        return NULL;
    }
    const kernel_pair *kernel = &self->kernels[wrench != NULL];
    int dimensions = PyArray_NDIM((PyArrayObject *)args[0]);
    if ((dimensions != 1 && dimensions != 2) || kernel->key == NULL) {
        return NULL;
    }
    npy_intp count = dimensions == 2 ? PyArray_DIM((PyArrayObject *)args[0], 0) : 1;
    for (Py_ssize_t i = 0; i < count_args + (wrench != NULL); i++) {
        widths[i] = i < count_args ? self->joints : WRENCH;
        inputs[i] = usable(i < count_args ? args[i] : wrench, dimensions, count, widths[i],
                           NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED);
        if (inputs[i] == NULL) {
            return NULL;
        }
    }
    PyObject *parameters = PyList_GET_ITEM(self->constants, 0);
    PyObject *constants = PyDict_GetItemWithError(parameters, kernel->key);
    if (constants == NULL) {
        return NULL;
    }
    /* lives until the end of the call, even if the parameters are replaced meanwhile */
    Py_INCREF(constants);
    PyObject *result = result_array(self, out, dimensions == 2, count);
    int status = 1;
    if (result != NULL) {
        const double *k = (const double *)PyArray_DATA((PyArrayObject *)constants);
        double *data = (double *)PyArray_DATA((PyArrayObject *)result);
        if (dimensions == 1) {
            if (kernel->single != NULL) {
                status = kernel->single(inputs[0], inputs[1], inputs[2], inputs[3], k, data);
            }
        } else {
            int shared = 0;
            for (int i = 0; i < INPUTS && out != NULL; i++) {
                shared |= overlap(inputs[i], count * widths[i], data, count * self->size);
            }
            status = shared || run_batch(self, kernel, count, inputs, widths, k, data);
        }
    }
    Py_DECREF(constants);
    if (status != 0) {
        Py_CLEAR(result);
    }
    return result;
}

/* Keyword arguments out= and wrench=; 0 if there is another one. None is like not given. */
static int keywords(PyObject *const *values, PyObject *names, PyObject **wrench, PyObject **out)
{
    Py_ssize_t count = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        PyObject *value = values[i] == Py_None ? NULL : values[i];
        if (name == name_out || PyUnicode_Compare(name, name_out) == 0) {
            *out = value;
        } else if (name == name_wrench || PyUnicode_Compare(name, name_wrench) == 0) {
            *wrench = value;
        } else {
            return 0;
        }
    }
    return 1;
}

static PyObject *function_vectorcall(PyObject *object, PyObject *const *args, size_t flags,
                                     PyObject *names)
{
    function_object *self = (function_object *)object;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    PyObject *wrench = NULL, *out = NULL;
    if (keywords(args + count, names, &wrench, &out)) {
        PyObject *result = attempt(self, args, count, wrench, out);
        if (result != NULL || PyErr_Occurred()) {
            return result;
        }
    }
    return PyObject_Vectorcall(self->fallback, args, flags, names);
}

static PyObject *function_attempt(PyObject *object, PyObject *const *args, Py_ssize_t count,
                                  PyObject *names)
{
    PyObject *wrench = NULL, *out = NULL;
    if (!keywords(args + count, names, &wrench, &out)) {
        PyErr_SetString(PyExc_TypeError, "attempt takes the inputs, wrench and out");
        return NULL;
    }
    PyObject *result = attempt((function_object *)object, args, count, wrench, out);
    if (result == NULL && !PyErr_Occurred()) {
        Py_RETURN_NONE;
    }
    return result;
}

static PyObject *function_bind(PyObject *object, PyObject *args)
{
    function_object *self = (function_object *)object;
    int with_wrench, batch;
    unsigned long long address;
    PyObject *key, *owner;
    if (!PyArg_ParseTuple(args, "ppUKO", &with_wrench, &batch, &key, &address, &owner)) {
        return NULL;
    }
    kernel_pair *kernel = &self->kernels[with_wrench];
    if (kernel->owner == NULL) {
        kernel->owner = PyList_New(0);
    }
    if (kernel->owner == NULL || PyList_Append(kernel->owner, owner) < 0) {
        return NULL;
    }
    if (batch) {
        kernel->batch = (batch_kernel)(size_t)address;
    } else {
        kernel->single = (single_kernel)(size_t)address;
    }
    Py_INCREF(key);
    Py_XSETREF(kernel->key, key);
    Py_RETURN_NONE;
}

static int function_init(PyObject *object, PyObject *args, PyObject *keywords_given)
{
    function_object *self = (function_object *)object;
    static char *names[] = {"fallback", "constants", "inputs", "joints", "shape", "lanes", NULL};
    PyObject *fallback, *constants, *shape;
    Py_ssize_t inputs, joints, lanes;
    if (!PyArg_ParseTupleAndKeywords(args, keywords_given, "OO!nnO!n", names, &fallback,
                                     &PyList_Type, &constants, &inputs, &joints, &PyTuple_Type,
                                     &shape, &lanes)) {
        return -1;
    }
    Py_ssize_t dimensions = PyTuple_GET_SIZE(shape);
    if (PyList_GET_SIZE(constants) != 1 || !PyDict_Check(PyList_GET_ITEM(constants, 0))
        || inputs < 1 || inputs > INPUTS || joints < 1 || lanes < 1 || dimensions < 1
        || dimensions > 2) {
        PyErr_SetString(PyExc_ValueError, "constants is a list of one dict; 1 to 4 inputs; "
                        "a shape of one or two numbers");
        return -1;
    }
    self->size = 1;
    for (Py_ssize_t i = 0; i < dimensions; i++) {
        self->shape[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i));
        if (self->shape[i] < 0) {
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_ValueError, "a shape has no negative numbers");
            }
            return -1;
        }
        self->size *= self->shape[i];
    }
    self->dimensions = (int)dimensions;
    self->inputs = inputs;
    self->joints = joints;
    self->lanes = lanes;
    self->vectorcall = function_vectorcall;
    Py_INCREF(fallback);
    Py_XSETREF(self->fallback, fallback);
    Py_INCREF(constants);
    Py_XSETREF(self->constants, constants);
    return 0;
}

static int function_traverse(PyObject *object, visitproc visit, void *arg)
{
    function_object *self = (function_object *)object;
    Py_VISIT(self->fallback);
    Py_VISIT(self->constants);
    for (int i = 0; i < 2; i++) {
        Py_VISIT(self->kernels[i].owner);
    }
    return 0;
}

static int function_clear(PyObject *object)
{
    function_object *self = (function_object *)object;
    Py_CLEAR(self->fallback);
    Py_CLEAR(self->constants);
    for (int i = 0; i < 2; i++) {
        self->kernels[i].single = NULL;
        self->kernels[i].batch = NULL;
        Py_CLEAR(self->kernels[i].key);
        Py_CLEAR(self->kernels[i].owner);
    }
    return 0;
}

static void function_dealloc(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    function_clear(object);
    Py_TYPE(object)->tp_free(object);
}

static PyMethodDef function_methods[] = {
    {"attempt", (PyCFunction)(void (*)(void))function_attempt, METH_FASTCALL | METH_KEYWORDS,
     "Run a kernel; None if this call is not one for a kernel."},
    {"bind", function_bind, METH_VARARGS,
     "bind(with_wrench, batch, key, address, owner): use the kernel at this address."},
    {NULL, NULL, 0, NULL},
};

static PyObject *function_direct(PyObject *object, void *closure)
{
    (void)closure;
    Py_INCREF(object);
    return object;
}

static PyGetSetDef function_properties[] = {
    {"direct", function_direct, NULL, "The function itself, to be called.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef function_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(function_object, fallback), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyTypeObject function_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "robot_dynamics_ros.codegen.runtime._entry.Function",
    .tp_doc = "A function of a model: runs a compiled kernel, or calls its fallback.",
    .tp_basicsize = sizeof(function_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(function_object, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = PyType_GenericNew,
    .tp_init = function_init,
    .tp_traverse = function_traverse,
    .tp_clear = function_clear,
    .tp_dealloc = function_dealloc,
    .tp_methods = function_methods,
    .tp_members = function_members,
    .tp_getset = function_properties,
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_entry",
    .m_doc = "Calls of compiled kernels.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__entry(void)
{
    import_array();
    name_out = PyUnicode_InternFromString("out");
    name_wrench = PyUnicode_InternFromString("wrench");
    if (name_out == NULL || name_wrench == NULL || PyType_Ready(&function_type) < 0) {
        return NULL;
    }
    PyObject *result = PyModule_Create(&module);
    if (result != NULL && PyModule_AddObjectRef(result, "Function",
                                                (PyObject *)&function_type) < 0) {
        Py_CLEAR(result);
    }
    return result;
}
