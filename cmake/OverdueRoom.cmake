# A room is one folder under overdue/ and one static library. What it may see is what it links:
#     overdue_room(latency SEES base LIBRARIES Boost::headers)
# Sources and tests are found by name: *_test.cc beside the code is the room's test binary.
include(GNUInstallDirs)
find_package(Threads REQUIRED)

add_library(overdue_flags INTERFACE)
# Equal inputs must give equal figures, so no fused multiply-add the source did not ask for. Designated initializers leave
# members at their defaults on purpose, so that warning is off.
target_compile_options(overdue_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow
                                               -Wno-missing-field-initializers -ffp-contract=off)
if(OVERDUE_DEVELOPER)
  target_compile_options(overdue_flags INTERFACE -Werror)
endif()
if(OVERDUE_SANITIZE)
  target_compile_options(overdue_flags INTERFACE -fsanitize=${OVERDUE_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  target_link_options(overdue_flags INTERFACE -fsanitize=${OVERDUE_SANITIZE})
endif()
target_include_directories(overdue_flags INTERFACE ${PROJECT_SOURCE_DIR})

if(OVERDUE_DEVELOPER)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  include(GoogleTest)
  enable_testing()
endif()

# A test binary; `SEES` names rooms. Tests run in the source root with fixed property seeds.
function(overdue_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;SEES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  if(OVERDUE_SANITIZE MATCHES "undefined")
    # A check of every pointer is 40 % of compiling a test, which has few: the rooms keep it, and a null one faults anyway.
    target_compile_options(${name} PRIVATE -fno-sanitize=null,alignment)
  endif()
  target_link_libraries(${name} PRIVATE overdue_flags ${ARG_LIBRARIES} GTest::gtest_main GTest::gmock
                                        rapidcheck rapidcheck_gtest)
  foreach(room IN LISTS ARG_SEES)
    target_link_libraries(${name} PRIVATE overdue_${room})
  endforeach()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)  # Against hanging; under the thread sanitizer, beside other work, some take minutes.
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS quick)
  endif()
  gtest_discover_tests(
    ${name}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS ${ARG_LABELS} ENVIRONMENT "RC_PARAMS=seed=20261129")
endfunction()

function(overdue_room room)
  cmake_parse_arguments(ARG "" "" "SEES;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cc)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.h)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  if(NOT sources)
    set(sources ${PROJECT_SOURCE_DIR}/cmake/empty.cc)
  endif()
  add_library(overdue_${room} STATIC ${sources} ${headers})
  target_link_libraries(overdue_${room} PUBLIC overdue_flags)
  foreach(seen IN LISTS ARG_SEES)
    target_link_libraries(overdue_${room} PUBLIC overdue_${seen})
  endforeach()
  target_link_libraries(overdue_${room} PRIVATE ${ARG_LIBRARIES})
  if(OVERDUE_DEVELOPER AND tests)
    overdue_test(${room}_test SOURCES ${tests} SEES ${room} LIBRARIES ${ARG_LIBRARIES})
  endif()
endfunction()
