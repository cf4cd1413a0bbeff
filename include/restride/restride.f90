! Restride in Fortran 2018: compile this file with the program, and link with -lrestride.
!
!     real(c_float), target :: a(2, 3) = reshape([1., 2., 3., 4., 5., 6.], [2, 3])
!     real(c_float), pointer :: b(:, :)
!     if (restride_transpose(a) /= RESTRIDE_OK) print *, restride_last_error()
!     call c_f_pointer(c_loc(a), b, [3, 2])        ! the same memory: b(j, i) is what a(i, j) was
!     if (any(b(:, 2) /= [2., 4., 6.])) error stop "not transposed"
!     if (restride_permute(b, [2, 1]) /= RESTRIDE_OK) error stop "not permuted back"
!     if (restride_convert(a, "f:3 i:2 float", "f i", "i f") /= RESTRIDE_OK) error stop "no"
!     if (any(a(:, 1) /= [1., 3.])) error stop "not converted"
!
! The arrays are contiguous, of any type and rank; what else they are is refused with a sentence, and
! the array is unchanged. Dimension lists and layouts are those of C, slowest dimension first: the
! array a(n, m) of Fortran is "j:m i:n". A status is RESTRIDE_OK, or restride_last_error() says why.
module restride
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: restride_transpose, restride_permute, restride_convert, restride_convert_copy
    public :: restride_engine_create_host, restride_engine_destroy, restride_engine_forget_plans
    public :: restride_last_error, restride_version
    public :: restride_redistribute, restride_group_create_mpi, restride_group_create_alone
    public :: restride_group_destroy, restride_group_set_timeout

    ! The numbers of restride/status.h.
    integer(c_int), parameter, public :: RESTRIDE_OK = 0, RESTRIDE_INVALID_ARGUMENT = 1, &
        RESTRIDE_SYNTAX = 2, RESTRIDE_OVERFLOW = 3, RESTRIDE_OUT_OF_MEMORY = 4, &
        RESTRIDE_UNSUPPORTED = 5, RESTRIDE_DEVICE_ERROR = 6, RESTRIDE_DEVICE_LIMIT = 7, &
        RESTRIDE_IO = 8

    ! How every compiler's descriptor of an array begins (Fortran 2018, 18.5.3).
    type, bind(c) :: descriptor
        type(c_ptr) :: address
        integer(c_size_t) :: element_bytes
    end type

    type :: memory
        type(c_ptr) :: address
        integer(c_size_t) :: element_bytes
        integer(c_size_t) :: bytes
    end type

    interface
        ! An engine that works in host memory with up to `threads` threads; 0: all processors.
        function restride_engine_create_host(engine, threads) bind(c) result(status)
            import
            type(c_ptr), intent(out) :: engine
            integer(c_int), value :: threads
            integer(c_int) :: status
        end function
        subroutine restride_engine_forget_plans(engine) bind(c)
            import
            type(c_ptr), value :: engine
        end subroutine
        subroutine restride_engine_destroy(engine) bind(c)
            import
            type(c_ptr), value :: engine
        end subroutine
        ! A group of the processes of a communicator: comm%MPI_VAL of mpi_f08. Link with -lrestride_mpi.
        function restride_group_create_mpi(group, communicator) &
            bind(c, name="restride_group_create_mpi_fortran") result(status)
            import
            type(c_ptr), intent(out) :: group
            integer(c_int), value :: communicator
            integer(c_int) :: status
        end function
        subroutine restride_group_set_timeout(group, seconds) bind(c)
            import
            type(c_ptr), value :: group
            real(c_double), value :: seconds
        end subroutine
        subroutine restride_group_destroy(group) bind(c)
            import
            type(c_ptr), value :: group
        end subroutine
        function create_group(group, functions, context, rank, size) &
            bind(c, name="restride_group_create") result(status)
            import
            type(c_ptr), intent(out) :: group
            type(c_ptr), value :: functions, context
            integer(c_int), value :: rank, size
            integer(c_int) :: status
        end function
        function plan_redistribute(plan, group, engine, dimensions, from, to, element_bytes, options) &
            bind(c, name="restride_plan_redistribute") result(status)
            import
            type(c_ptr), intent(out) :: plan
            type(c_ptr), value :: group, engine, options
            character(kind=c_char), intent(in) :: dimensions(*), from(*), to(*)
            integer(c_size_t), value :: element_bytes
            integer(c_int) :: status
        end function
        function plan_local_bytes(plan) bind(c, name="restride_plan_local_bytes") result(bytes)
            import
            type(c_ptr), value :: plan
            integer(c_size_t) :: bytes
        end function
        function execute(plan, buffer) bind(c, name="restride_execute") result(status)
            import
            type(c_ptr), value :: plan, buffer
            integer(c_int) :: status
        end function
        subroutine plan_destroy(plan) bind(c, name="restride_plan_destroy")
            import
            type(c_ptr), value :: plan
        end subroutine
        ! major x 10000 + minor x 100 + patch of the library
        function restride_version() bind(c) result(version)
            import
            integer(c_int) :: version
        end function
        function transpose_with(engine, data, bytes, rows, cols, elem_size, batch) &
            bind(c, name="restride_transpose_with") result(status)
            import
            type(c_ptr), value :: engine, data
            integer(c_size_t), value :: bytes, rows, cols, elem_size, batch
            integer(c_int) :: status
        end function
        function permute_with(engine, data, bytes, rank, dims, permutation, elem_size) &
            bind(c, name="restride_permute_with") result(status)
            import
            type(c_ptr), value :: engine, data
            integer(c_size_t), value :: bytes, elem_size
            integer(c_int), value :: rank
            integer(c_size_t), intent(in) :: dims(*)
            integer(c_int), intent(in) :: permutation(*)
            integer(c_int) :: status
        end function
        function convert_with(engine, array, bytes, dimensions, from, to) &
            bind(c, name="restride_convert_with") result(status)
            import
            type(c_ptr), value :: engine, array
            integer(c_size_t), value :: bytes
            character(kind=c_char), intent(in) :: dimensions(*), from(*), to(*)
            integer(c_int) :: status
        end function
        function layout_parse(layout, dimensions, expression) bind(c, name="restride_layout_parse") result(status)
            import
            type(c_ptr), intent(out) :: layout
            character(kind=c_char), intent(in) :: dimensions(*), expression(*)
            integer(c_int) :: status
        end function
        function layout_bytes(layout) bind(c, name="restride_layout_bytes") result(bytes)
            import
            type(c_ptr), value :: layout
            integer(c_size_t) :: bytes
        end function
        subroutine layout_destroy(layout) bind(c, name="restride_layout_destroy")
            import
            type(c_ptr), value :: layout
        end subroutine
        function plan_convert_copy(plan, engine, from, to, element_bytes) &
            bind(c, name="restride_plan_convert_copy") result(status)
            import
            type(c_ptr), intent(out) :: plan
            type(c_ptr), value :: engine, from, to
            integer(c_size_t), value :: element_bytes
            integer(c_int) :: status
        end function
        function execute_copy(plan, from, to) bind(c, name="restride_execute_copy") result(status)
            import
            type(c_ptr), value :: plan, from, to
            integer(c_int) :: status
        end function
        function set_error(status, sentence) bind(c, name="restride_set_error") result(same)
            import
            integer(c_int), value :: status
            character(kind=c_char), intent(in) :: sentence(*)
            integer(c_int) :: same
        end function
        function last_error() bind(c, name="restride_last_error") result(sentence)
            import
            type(c_ptr) :: sentence
        end function
        function length_of(text) bind(c, name="strlen") result(length)
            import
            type(c_ptr), value :: text
            integer(c_size_t) :: length
        end function
        ! Reads the descriptor that the compiler passes for `array`.
        subroutine read_descriptor(head, array, bytes) bind(c, name="memcpy")
            import
            type(descriptor), intent(out) :: head
            type(*), intent(in) :: array(..)
            integer(c_size_t), value :: bytes
        end subroutine
    end interface

contains

    ! a(n, m) becomes (m, n) in its own memory: what was a(i, j) is then element (j, i).
    function restride_transpose(a, engine) result(status)
        type(*), intent(inout) :: a(..)
        type(c_ptr), intent(in), optional :: engine
        integer(c_int) :: status
        type(memory) :: m
        if (rank(a) /= 2) then
            status = fail("restride_transpose needs a matrix, an array of rank 2; restride_permute takes others.")
            return
        end if
        status = find(a, m)
        if (status /= RESTRIDE_OK) return
        status = transpose_with(chosen(engine), m%address, m%bytes, size(a, 2, c_size_t), &
                                size(a, 1, c_size_t), m%element_bytes, 1_c_size_t)
    end function

    ! Axis k of the result is axis order(k) of a, both counted from 1.
    function restride_permute(a, order, engine) result(status)
        type(*), intent(inout) :: a(..)
        integer, intent(in) :: order(:)
        type(c_ptr), intent(in), optional :: engine
        integer(c_int) :: status
        type(memory) :: m
        integer(c_size_t) :: dims(15)
        integer(c_int) :: permutation(15)
        integer :: k, r
        r = rank(a)
        if (r == 0 .or. size(order) /= r) then
            status = fail("restride_permute needs an array, and a place in the order for each of its axes.")
            return
        end if
        status = find(a, m)
        if (status /= RESTRIDE_OK) return
        do k = 1, r ! C counts from the slowest axis and from 0
            dims(k) = size(a, r + 1 - k, c_size_t)
            permutation(k) = int(r - order(r + 1 - k), c_int)
        end do
        status = permute_with(chosen(engine), m%address, m%bytes, int(r, c_int), dims, permutation, m%element_bytes)
    end function

    ! restride_convert(bodies, "i:1003 f{ float x; double m; }", "i f", "i/32 f i%32")
    function restride_convert(a, dimensions, from, to, engine) result(status)
        type(*), intent(inout) :: a(..)
        character(*, c_char), intent(in) :: dimensions, from, to
        type(c_ptr), intent(in), optional :: engine
        integer(c_int) :: status
        type(memory) :: m
        status = find(a, m)
        if (status /= RESTRIDE_OK) return
        status = convert_with(chosen(engine), m%address, m%bytes, dimensions//c_null_char, from//c_null_char, &
                              to//c_null_char)
    end function

    ! Array `b` gets what `a` has, in another layout: restride_convert_copy(a, b, "j:8 i:6 int", "j i", "i j").
    function restride_convert_copy(a, b, dimensions, from, to, engine) result(status)
        type(*), intent(in) :: a(..)
        type(*), intent(inout) :: b(..)
        character(*, c_char), intent(in) :: dimensions, from, to
        type(c_ptr), intent(in), optional :: engine
        integer(c_int) :: status
        type(c_ptr) :: plan, by, layouts(2)
        type(memory) :: source, target
        status = find(a, source)
        if (status == RESTRIDE_OK) status = find(b, target)
        if (status /= RESTRIDE_OK) return
        layouts = c_null_ptr
        by = chosen(engine)
        if (.not. present(engine)) status = restride_engine_create_host(by, 0_c_int)
        if (status == RESTRIDE_OK) status = layout_parse(layouts(1), dimensions//c_null_char, from//c_null_char)
        if (status == RESTRIDE_OK) status = layout_parse(layouts(2), dimensions//c_null_char, to//c_null_char)
        if (status == RESTRIDE_OK) status = plan_convert_copy(plan, by, layouts(1), layouts(2), 0_c_size_t)
        if (status == RESTRIDE_OK) then
            if (source%bytes /= layout_bytes(layouts(1)) .or. target%bytes /= layout_bytes(layouts(2))) then
                status = fail("The arrays have not as many bytes as their layouts.")
            else
                status = execute_copy(plan, source%address, target%address)
            end if
            call plan_destroy(plan)
        end if
        call layout_destroy(layouts(1))
        call layout_destroy(layouts(2))
        if (.not. present(engine)) call restride_engine_destroy(by)
    end function

    ! This process alone as a group.
    function restride_group_create_alone(group) result(status)
        type(c_ptr), intent(out) :: group
        integer(c_int) :: status
        status = create_group(group, c_null_ptr, c_null_ptr, 0_c_int, 1_c_int)
    end function

    ! Part `a` of an array over the processes of a group goes from one layout to another (restride/distributed.h):
    ! restride_redistribute(a, group, "c:8 r:6 float", "@c/4 c%4 r", "@r/3 r%3 c"). All processes call it. `a` has
    ! room for the larger of its two parts, or all get an error and no array is changed.
    function restride_redistribute(a, group, dimensions, from, to, engine) result(status)
        type(*), intent(inout) :: a(..)
        type(c_ptr), intent(in) :: group
        character(*, c_char), intent(in) :: dimensions, from, to
        type(c_ptr), intent(in), optional :: engine
        integer(c_int) :: status, found
        type(c_ptr) :: plan, by
        type(memory) :: m
        by = chosen(engine)
        if (.not. present(engine)) status = restride_engine_create_host(by, 0_c_int)
        found = find(a, m)
        status = plan_redistribute(plan, group, by, dimensions//c_null_char, from//c_null_char, to//c_null_char, &
                                   0_c_size_t, c_null_ptr)
        if (status == RESTRIDE_OK) then
            ! Without a buffer the others hear of it.
            if (found /= RESTRIDE_OK .or. m%bytes < plan_local_bytes(plan)) m%address = c_null_ptr
            status = execute(plan, m%address)
            call plan_destroy(plan)
        end if
        if (.not. present(engine)) call restride_engine_destroy(by)
    end function

    ! The sentence of the calling thread's last failed call.
    function restride_last_error() result(sentence)
        character(:, c_char), allocatable :: sentence
        character(kind=c_char), pointer :: bytes(:)
        type(c_ptr) :: text
        integer :: i, length
        text = last_error()
        length = int(length_of(text))
        call c_f_pointer(text, bytes, [length])
        allocate (character(length, c_char) :: sentence)
        do i = 1, length
            sentence(i:i) = bytes(i)
        end do
    end function

    function find(a, m) result(status)
        type(*), intent(in) :: a(..)
        type(memory), intent(out) :: m
        integer(c_int) :: status
        type(descriptor) :: head
        integer :: k
        status = RESTRIDE_OK
        if (.not. is_contiguous(a)) then
            status = fail("The array is a section with gaps, and only a contiguous array can be changed in place.")
            return
        end if
        call read_descriptor(head, a, c_sizeof(head))
        m%address = head%address
        m%element_bytes = head%element_bytes
        m%bytes = head%element_bytes
        do k = 1, rank(a)
            m%bytes = m%bytes*size(a, k, c_size_t)
        end do
    end function

    function chosen(engine) result(given)
        type(c_ptr), intent(in), optional :: engine
        type(c_ptr) :: given
        given = c_null_ptr
        if (present(engine)) given = engine
    end function

    function fail(sentence) result(status)
        character(*, c_char), intent(in) :: sentence
        integer(c_int) :: status
        status = set_error(RESTRIDE_INVALID_ARGUMENT, sentence//" The array is unchanged."//c_null_char)
    end function

end module
