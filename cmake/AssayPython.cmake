# The Python that the extension is built for, and what its packages give to the build: nanobind, and plotly.js.
#
# scikit-build-core asks for the stable ABI, one extension for every Python from 3.12 on, where a wheel can have it.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})

# assay_ask_python(VARIABLE ARGUMENT...): what Python prints when it is called so; empty where it fails.
function(assay_ask_python variable)
  execute_process(COMMAND ${Python_EXECUTABLE} ${ARGN} OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET RESULT_VARIABLE failure)
  if(failure)
    set(answer "")
  endif()
  set(${variable} "${answer}" PARENT_SCOPE)
endfunction()

assay_ask_python(nanobind_ROOT -m nanobind --cmake_dir)
if(NOT nanobind_ROOT)
  message(FATAL_ERROR "ASSAY_PYTHON: ${Python_EXECUTABLE} has no nanobind; `make test` installs it into build/venv, "
                      "`pip install .` brings its own, and -DASSAY_PYTHON=OFF builds without the Python extension")
endif()
find_package(nanobind CONFIG REQUIRED)

# A wheel is built where pip has put what pyproject.toml asks for; the Makefile says itself where plotly.js is.
if(SKBUILD AND NOT ASSAY_PLOTLY_JS)
  assay_ask_python(module -c "import importlib.util\nprint(importlib.util.find_spec('plotly').origin)")
  if(module)
    cmake_path(GET module PARENT_PATH package)
    set(ASSAY_PLOTLY_JS ${package}/package_data/plotly.min.js)
  endif()
endif()
