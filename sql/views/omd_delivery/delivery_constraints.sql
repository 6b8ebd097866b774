-- A check is also shown as Spark is given it, so that a modeller can try it there.

CREATE OR REPLACE VIEW omd_report.delivery_constraints AS
SELECT
    i.interface_code,
    e.entity_code,
    c.constraint_code,
    c.constraint_type,
    c.stage,
    c.expression,
    c.spark_expression
FROM omd_delivery.model_constraint AS c
INNER JOIN omd_delivery.entity AS e ON c.entity_id = e.entity_id
INNER JOIN omd_delivery.interface AS i ON e.interface_id = i.interface_id
WHERE NOT c.is_retired;

COMMENT ON VIEW omd_report.delivery_constraints IS 'What each model checks.';
COMMENT ON COLUMN omd_report.delivery_constraints.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.delivery_constraints.entity_code IS
'The entity whose rows violate it.';
COMMENT ON COLUMN omd_report.delivery_constraints.constraint_code IS 'The constraint.';
COMMENT ON COLUMN omd_report.delivery_constraints.constraint_type IS 'Its type.';
COMMENT ON COLUMN omd_report.delivery_constraints.stage IS 'The stage in which it is checked.';
COMMENT ON COLUMN omd_report.delivery_constraints.expression IS
'The check, or the query, as the model has it; NULL where its type says all.';
COMMENT ON COLUMN omd_report.delivery_constraints.spark_expression IS
'The check in the words of Spark; NULL where the expression needs no other.';
