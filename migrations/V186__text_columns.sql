-- phase: expand
-- V186: process control: each column that can hold text, and what an erasure does with it. Applied
-- once.

CREATE TABLE omd.text_column (
    table_code text NOT NULL,
    column_name text NOT NULL,
    treatment text NOT NULL,
    reason text NOT NULL,
    CONSTRAINT pk_text_column PRIMARY KEY (table_code, column_name),
    CONSTRAINT ck_text_column_treatment CHECK (
        treatment IN ('ERASED', 'ERASED_WITH_KEY', 'NEVER_PERSONAL', 'NOT_REACHED')
    )
);

COMMENT ON TABLE omd.text_column IS
'Each column of OMD that can hold text, and what an erasure of a person does with it.';
COMMENT ON COLUMN omd.text_column.table_code IS
'The table; a pattern of LIKE for tables that a routine makes.';
COMMENT ON COLUMN omd.text_column.column_name IS
'The column; a pattern of LIKE for columns that a routine makes.';
COMMENT ON COLUMN omd.text_column.treatment IS
'ERASED: texts of the person are masked in it. ERASED_WITH_KEY: it goes with the keys of the '
'person. NEVER_PERSONAL: it never holds anything of a person. NOT_REACHED: an item of the erasure '
'says so.';
COMMENT ON COLUMN omd.text_column.reason IS
'What it holds. Of NOT_REACHED: the item of the erasure, and what it holds.';
