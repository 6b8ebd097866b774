-- It says which interfaces there are; model_document gives the model of one.

CREATE OR REPLACE VIEW omd_report.delivery_models AS
SELECT
    i.interface_code,
    i.model_version,
    (
        SELECT array_agg(e.entity_code ORDER BY e.ordinal)
        FROM omd_delivery.entity AS e
        WHERE e.interface_id = i.interface_id AND NOT e.is_retired
    ) AS entities,
    m.deployed_datetime,
    m.deployed_by
FROM omd_delivery.interface AS i
INNER JOIN omd_delivery.model_version AS m
    ON i.interface_id = m.interface_id AND i.model_version = m.model_version;

COMMENT ON VIEW omd_report.delivery_models IS 'The interfaces and the versions of their models.';
COMMENT ON COLUMN omd_report.delivery_models.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.delivery_models.model_version IS 'The version of its model.';
COMMENT ON COLUMN omd_report.delivery_models.entities IS
'Its entities; NULL: all of them are retired.';
COMMENT ON COLUMN omd_report.delivery_models.deployed_datetime IS
'When this version was deployed.';
COMMENT ON COLUMN omd_report.delivery_models.deployed_by IS 'Who deployed it.';
