// SPDX-License-Identifier: Apache-2.0
/*
 * The way from Python into compiled kernels: checks arrays and calls an address.
 *
 * Nothing here knows of robots. A Call is one function with one set of parameters: the addresses
 * of its kernels, for one state and for a batch, and the constants they need. It never changes. A
 * Function is what users call. It looks up its Call in `calls[0]`, a dict, and runs it; where
 * there is none, or where the Call has no kernel for these arguments, it calls its fallback,
 * which converts, compiles, or says what is wrong. Replacing the one entry of the list `calls`
 * replaces the parameters of all functions at once.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

enum { INPUTS = 4, DIMENSIONS = 3, RELEASE_LOCK_FROM = 64 };

typedef int (*single_kernel)(const double *, const double *, const double *, const double *,
                             const double *, double *);
typedef int (*batch_kernel)(long long, const double *, const double *, const double *,
                            const double *, const double *, double *);

typedef struct {
    PyObject_HEAD
    single_kernel single; /* NULL: not compiled */
    batch_kernel batch;
    PyObject *owner;     /* keeps the code in memory */
    PyObject *constants; /* float64 array */
    Py_ssize_t inputs;
    npy_intp widths[INPUTS];
    npy_intp lanes; /* a batch kernel needs at least as many states */
    int dimensions;
    npy_intp shape[DIMENSIONS];
    npy_intp size;
} call_object;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *fallback;
    PyObject *calls;
    PyObject *keys[2]; /* without and with wrench */
} function_object;

static PyTypeObject call_type;
static PyObject *name_out, *name_wrench;
static PyArray_Descr *float64;

/* Whether entries are doubles of this machine. Almost every array shares the one description. */
static inline int is_float64(PyArrayObject *array)
{
    return PyArray_DESCR(array) == float64
           || (PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISNOTSWAPPED(array));
}

/* Data of an array that a kernel can read, or NULL. */
static inline double *usable(PyObject *object, int dimensions, npy_intp count, npy_intp width)
{
    const int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
    if (!PyArray_CheckExact(object)) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    if (!is_float64(array) || (PyArray_FLAGS(array) & flags) != flags
        || PyArray_NDIM(array) != dimensions
        || PyArray_DIM(array, dimensions - 1) != width
        || (dimensions == 2 && PyArray_DIM(array, 0) != count)) {
        return NULL;
    }
    return (double *)PyArray_DATA(array);
}

/* An array for the result: the given one if it fits, a new one if none is given. */
static inline PyObject *result_array(const call_object *self, PyObject *out, int batch,
                                     npy_intp count)
{
    npy_intp shape[1 + DIMENSIONS];
    const npy_intp *dims = self->shape;
    if (batch) {
        shape[0] = count;
        memcpy(shape + 1, self->shape, sizeof(self->shape));
        dims = shape;
    }
    int dimensions = self->dimensions + batch;
    if (out == NULL) {
        Py_INCREF(float64); /* the new array takes it */
        return PyArray_NewFromDescr(&PyArray_Type, float64, dimensions, dims, NULL, NULL, 0,
                                    NULL);
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

static int run_batch(const call_object *self, npy_intp count, const double **inputs, double *out)
{
    const double *k = (const double *)PyArray_DATA((PyArrayObject *)self->constants);
    if (count >= self->lanes && self->batch != NULL) {
        int status;
        PyThreadState *state = count >= RELEASE_LOCK_FROM ? PyEval_SaveThread() : NULL;
        status = self->batch(count, inputs[0], inputs[1], inputs[2], inputs[3], k, out);
        if (state != NULL) {
            PyEval_RestoreThread(state);
        }
        return status;
    }
    if (count >= self->lanes || self->single == NULL) {
        return 1;
    }
    for (npy_intp i = 0; i < count; i++) {
        const double *row[INPUTS];
        for (int j = 0; j < INPUTS; j++) {
            row[j] = inputs[j] == NULL ? NULL : inputs[j] + i * self->widths[j];
        }
        if (self->single(row[0], row[1], row[2], row[3], k, out + i * self->size) != 0) {
            return 1;
        }
    }
    return 0;
}

/* Run a kernel. NULL without an exception: there is no kernel for these arguments. */
static PyObject *attempt(const call_object *self, PyObject *const *args, Py_ssize_t count_args,
                         PyObject *out)
{
    const double *inputs[INPUTS] = {NULL, NULL, NULL, NULL};
    if (self->constants == NULL || count_args != self->inputs || !PyArray_CheckExact(args[0])) {
        return NULL;
    }
    int dimensions = PyArray_NDIM((PyArrayObject *)args[0]);
    if (dimensions != 1 && dimensions != 2) {
        return NULL;
    }
    npy_intp count = dimensions == 2 ? PyArray_DIM((PyArrayObject *)args[0], 0) : 1;
    for (Py_ssize_t i = 0; i < count_args; i++) {
        inputs[i] = usable(args[i], dimensions, count, self->widths[i]);
        if (inputs[i] == NULL) {
            return NULL;
        }
    }
    PyObject *result = result_array(self, out, dimensions == 2, count);
    if (result == NULL) {
        return NULL;
    }
    int status = 1;
    double *data = (double *)PyArray_DATA((PyArrayObject *)result);
    if (dimensions == 1) {
        if (self->single != NULL) {
            status = self->single(inputs[0], inputs[1], inputs[2], inputs[3],
                                  (const double *)PyArray_DATA((PyArrayObject *)self->constants),
                                  data);
        }
    } else {
        int shared = 0;
        for (int i = 0; i < INPUTS && out != NULL; i++) {
            shared |= overlap(inputs[i], count * self->widths[i], data, count * self->size);
        }
        status = shared || run_batch(self, count, inputs, data);
    }
    if (status != 0) {
        Py_CLEAR(result);
    }
    return result;
}

static PyObject *call_attempt(PyObject *object, PyObject *const *args, Py_ssize_t count,
                              PyObject *names)
{
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    if (named > 1
        || (named == 1 && PyUnicode_Compare(PyTuple_GET_ITEM(names, 0), name_out) != 0)) {
        PyErr_SetString(PyExc_TypeError, "attempt takes the inputs and out");
        return NULL;
    }
    PyObject *out = named == 0 || args[count] == Py_None ? NULL : args[count];
    PyObject *result = attempt((call_object *)object, args, count, out);
    if (result == NULL && !PyErr_Occurred()) {
        Py_RETURN_NONE;
    }
    return result;
}

static void call_dealloc(PyObject *object)
{
    call_object *self = (call_object *)object;
    Py_CLEAR(self->owner);
    Py_CLEAR(self->constants);
    Py_TYPE(object)->tp_free(object);
}

/* Copy the numbers of a tuple; 0 with an exception if there are less or more than allowed. */
static int numbers(PyObject *tuple, Py_ssize_t least, Py_ssize_t most, npy_intp *values)
{
    Py_ssize_t count = PyTuple_GET_SIZE(tuple);
    if (count < least || count > most) {
        PyErr_SetString(PyExc_ValueError, "1 to 4 inputs; a shape of 0 to 3 numbers");
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        values[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, i));
        if (values[i] < 0) {
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_ValueError, "widths and shapes have no negative numbers");
            }
            return 0;
        }
    }
    return 1;
}

static PyObject *call_new(PyTypeObject *type, PyObject *args, PyObject *keywords_given)
{
    static char *names[] = {"single", "batch", "owner", "constants", "widths", "shape", "lanes",
                            NULL};
    unsigned long long single, batch;
    PyObject *owner, *constants, *widths, *shape;
    Py_ssize_t lanes;
    if (!PyArg_ParseTupleAndKeywords(args, keywords_given, "KKOO!O!O!n", names, &single, &batch,
                                     &owner, &PyArray_Type, &constants, &PyTuple_Type, &widths,
                                     &PyTuple_Type, &shape, &lanes)) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)constants;
    if (lanes < 1 || PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISCARRAY_RO(array)) {
        PyErr_SetString(PyExc_ValueError, "constants are contiguous float64; at least one lane");
        return NULL;
    }
    call_object *self = (call_object *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    if (!numbers(widths, 1, INPUTS, self->widths)
        || !numbers(shape, 0, DIMENSIONS, self->shape)) {
        Py_DECREF(self);
        return NULL;
    }
    self->single = (single_kernel)(size_t)single;
    self->batch = (batch_kernel)(size_t)batch;
    self->inputs = PyTuple_GET_SIZE(widths);
    self->dimensions = (int)PyTuple_GET_SIZE(shape);
    self->size = 1;
    for (int i = 0; i < self->dimensions; i++) {
        self->size *= self->shape[i];
    }
    self->lanes = lanes;
    Py_INCREF(owner);
    self->owner = owner;
    Py_INCREF(constants);
    self->constants = constants;
    return (PyObject *)self;
}

static PyMethodDef call_methods[] = {
    {"attempt", (PyCFunction)(void (*)(void))call_attempt, METH_FASTCALL | METH_KEYWORDS,
     "attempt(*inputs, out=None): run a kernel; None if there is none for these arguments."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject call_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "robot_dynamics_ros.codegen.runtime._entry.Call",
    .tp_doc = "The kernels of one function with the constants of one set of parameters.",
    .tp_basicsize = sizeof(call_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = call_new,
    .tp_dealloc = call_dealloc,
    .tp_methods = call_methods,
};

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
    if (self->calls != NULL && keywords(args + count, names, &wrench, &out)
        && count + (wrench != NULL) <= INPUTS) {
        PyObject *joined[INPUTS], *const *inputs = args;
        if (wrench != NULL) {
            memcpy(joined, args, count * sizeof(PyObject *));
            joined[count] = wrench;
            inputs = joined;
        }
        PyObject *call = PyDict_GetItemWithError(PyList_GET_ITEM(self->calls, 0),
                                                 self->keys[wrench != NULL]);
        if (call != NULL && Py_TYPE(call) == &call_type) {
            /* lives until the end of the call, even if the parameters are replaced meanwhile */
            Py_INCREF(call);
            PyObject *result = attempt((call_object *)call, inputs, count + (wrench != NULL),
                                       out);
            Py_DECREF(call);
            if (result != NULL) {
                return result;
            }
        }
        if (PyErr_Occurred()) {
            return NULL;
        }
    }
    return PyObject_Vectorcall(self->fallback, args, flags, names);
}

static int function_init(PyObject *object, PyObject *args, PyObject *keywords_given)
{
    function_object *self = (function_object *)object;
    static char *names[] = {"fallback", "calls", "key", "key_with_wrench", NULL};
    PyObject *fallback, *calls, *key, *key_with_wrench;
    if (!PyArg_ParseTupleAndKeywords(args, keywords_given, "OO!UU", names, &fallback,
                                     &PyList_Type, &calls, &key, &key_with_wrench)) {
        return -1;
    }
    if (PyList_GET_SIZE(calls) != 1 || !PyDict_Check(PyList_GET_ITEM(calls, 0))) {
        PyErr_SetString(PyExc_ValueError, "calls is a list of one dict");
        return -1;
    }
    self->vectorcall = function_vectorcall;
    Py_INCREF(fallback);
    Py_XSETREF(self->fallback, fallback);
    Py_INCREF(calls);
    Py_XSETREF(self->calls, calls);
    Py_INCREF(key);
    Py_XSETREF(self->keys[0], key);
    Py_INCREF(key_with_wrench);
    Py_XSETREF(self->keys[1], key_with_wrench);
    return 0;
}

static int function_traverse(PyObject *object, visitproc visit, void *arg)
{
    function_object *self = (function_object *)object;
    Py_VISIT(self->fallback);
    Py_VISIT(self->calls);
    return 0;
}

static int function_clear(PyObject *object)
{
    function_object *self = (function_object *)object;
    Py_CLEAR(self->fallback);
    Py_CLEAR(self->calls);
    Py_CLEAR(self->keys[0]);
    Py_CLEAR(self->keys[1]);
    return 0;
}

static void function_dealloc(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    function_clear(object);
    Py_TYPE(object)->tp_free(object);
}

static PyMemberDef function_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(function_object, fallback), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyTypeObject function_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "robot_dynamics_ros.codegen.runtime._entry.Function",
    .tp_doc = "A function of a model: runs its present Call, or calls its fallback.",
    .tp_basicsize = sizeof(function_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(function_object, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = PyType_GenericNew,
    .tp_init = function_init,
    .tp_traverse = function_traverse,
    .tp_clear = function_clear,
    .tp_dealloc = function_dealloc,
    .tp_members = function_members,
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
    float64 = PyArray_DescrFromType(NPY_DOUBLE);
    if (float64 == NULL || name_out == NULL || name_wrench == NULL || PyType_Ready(&call_type) < 0
        || PyType_Ready(&function_type) < 0) {
        return NULL;
    }
    PyObject *result = PyModule_Create(&module);
    if (result != NULL
        && (PyModule_AddObjectRef(result, "Call", (PyObject *)&call_type) < 0
            || PyModule_AddObjectRef(result, "Function", (PyObject *)&function_type) < 0)) {
        Py_CLEAR(result);
    }
    return result;
}
