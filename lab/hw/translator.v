// The address translator of the load and store units (Tseng 2014, section 3.4, equations 1 and 2).
//
// An address of an AoS array becomes that of the same byte in ASTA. One address enters and one leaves in each cycle;
// ADDRESS + 3 cycles lie between. Elements have 2^SIZE_LOG2 bytes, tiles 2^TILE_LOG2 elements; the division
// by the number of fields is ADDRESS stages of subtraction.
module translator #(
    parameter ADDRESS = 32,
    parameter SIZE_LOG2 = 2,
    parameter TILE_LOG2 = 5,
    parameter FIELD = 8          // bits of the number of fields
) (
    input  wire               clock,
    input  wire               reset,
    input  wire [ADDRESS-1:0] begin_address,
    input  wire [FIELD-1:0]   fields,        // 1 or more; both stay while addresses are inside
    input  wire               in_valid,
    input  wire [ADDRESS-1:0] in_address,
    output wire               out_valid,
    output wire [ADDRESS-1:0] out_address
);
    // Equation 1, then the long division: stage n decides bit ADDRESS-1-n of the quotient. Of each register there is one
    // for every stage, side by side: the quotient's has what is left of the dividend above the quotient's bits.
    reg [(ADDRESS+1)*ADDRESS-1:0]   quotients;
    reg [(ADDRESS+1)*FIELD-1:0]     remainders;  // each below `fields`
    reg [(ADDRESS+1)*SIZE_LOG2-1:0] byte_places;
    reg [ADDRESS+2:0]               valid;

    wire [ADDRESS-1:0] distance = in_address - begin_address;
    always @(posedge clock) begin
        quotients[0 +: ADDRESS]     <= distance >> SIZE_LOG2;
        remainders[0 +: FIELD]      <= {FIELD{1'b0}};
        byte_places[0 +: SIZE_LOG2] <= distance[SIZE_LOG2-1:0];
    end
    genvar n;
    generate
        for (n = 0; n < ADDRESS; n = n + 1) begin : stage
            wire [ADDRESS-1:0] dividend = quotients[n*ADDRESS +: ADDRESS];
            wire [FIELD:0]     partial  = {remainders[n*FIELD +: FIELD], dividend[ADDRESS-1]};
            wire               fits     = partial >= {1'b0, fields};
            wire [FIELD-1:0]   rest     = fits ? partial[FIELD-1:0] - fields : partial[FIELD-1:0];
            always @(posedge clock) begin
                quotients[(n+1)*ADDRESS +: ADDRESS]       <= {dividend[ADDRESS-2:0], fits};
                remainders[(n+1)*FIELD +: FIELD]          <= rest;
                byte_places[(n+1)*SIZE_LOG2 +: SIZE_LOG2] <= byte_places[n*SIZE_LOG2 +: SIZE_LOG2];
            end
        end
    endgenerate

    // Equations 2a to 2c: the structure's place in its tile, the field's tile, the chunk.
    reg [ADDRESS-1:0] chunk, tile_place, sum;
    reg [SIZE_LOG2-1:0] byte_place;
    wire [ADDRESS-1:0] structure = quotients[ADDRESS*ADDRESS +: ADDRESS];
    wire [ADDRESS-1:0] field = {{(ADDRESS-FIELD){1'b0}}, remainders[ADDRESS*FIELD +: FIELD]};
    always @(posedge clock) begin
        chunk          <= (structure >> TILE_LOG2) * {{(ADDRESS-FIELD){1'b0}}, fields};
        tile_place     <= (field << TILE_LOG2) | {{(ADDRESS-TILE_LOG2){1'b0}}, structure[TILE_LOG2-1:0]};
        byte_place     <= byte_places[ADDRESS*SIZE_LOG2 +: SIZE_LOG2];
        sum            <= begin_address + (((chunk << TILE_LOG2) + tile_place) << SIZE_LOG2) +
                          {{(ADDRESS-SIZE_LOG2){1'b0}}, byte_place};
        valid          <= reset ? {(ADDRESS+3){1'b0}} : {valid[ADDRESS+1:0], in_valid};
    end
    assign out_valid   = valid[ADDRESS+2];
    assign out_address = sum;
endmodule
