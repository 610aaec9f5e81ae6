# cmake -DFROM=FOLDER -DTO=FOLDER -DNAMES=LIST -DPROGRAM=FILE -P: the named files of one folder in the other, none that
# were there before and are no longer named, and bin/assay as in an installed package.
file(GLOB there RELATIVE ${TO} ${TO}/*.py ${TO}/*.pyi ${TO}/py.typed)
list(REMOVE_ITEM there ${NAMES})
foreach(name IN LISTS there)
  file(REMOVE ${TO}/${name})
endforeach()
foreach(name IN LISTS NAMES)
  file(COPY ${FROM}/${name} DESTINATION ${TO})
endforeach()
file(MAKE_DIRECTORY ${TO}/bin)
file(CREATE_LINK ${PROGRAM} ${TO}/bin/assay SYMBOLIC)
